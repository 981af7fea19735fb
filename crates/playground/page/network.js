// The network: nodes, links as two lanes, their queues, and the packets on them.

const LANE = 7;
const QUEUE_HEIGHT = 13;
/** Below this width of the picture, texts are short. */
const NARROW = 520;
/** Time for which a dropped packet is shown, in milliseconds. */
const FALL = 700;

class Network {
  constructor(canvas) {
    this.canvas = canvas;
    this.drops = [];
  }

  /** Places the nodes of a scenario in columns, senders on the left. */
  show(scenario) {
    this.scenario = scenario;
    this.drops = [];
    this.dropped = null;
    const { nodes, links } = scenario;
    const flows = [...scenario.flows, ...scenario.transfers];
    this.column = nodes.map(() => Infinity);
    let reached = [...new Set(flows.map(({ from }) => nodes.findIndex(({ name }) => name === from)))];
    for (let step = 0; reached.length > 0; step += 1) {
      for (const node of reached) this.column[node] = step;
      const ends = links.flatMap(({ between: [a, b] }) => [[a, b], [b, a]]);
      reached = [...new Set(ends.filter(([a, b]) => reached.includes(a) && this.column[b] === Infinity).map(([, b]) => b))];
    }
    this.columns = Math.max(...this.column.filter(Number.isFinite)) + 1;
    this.column = this.column.map(step => (Number.isFinite(step) ? step : 0));
    const rows = nodes.map((_, node) => this.column.filter(step => step === this.column[node]).length);
    const same = links.map(({ between }) => links.filter(other => between.every(node => other.between.includes(node))).length);
    this.canvas.style.height = Math.max(...rows, ...same) === 1 ? '190px' : '320px';
    this.queues = links.map((link, number) => this.queue(link, number));
  }

  /** The direction of a link that has a queue worth showing: the one away from senders, where it is narrow. */
  queue({ between: [a, b], directions }, number) {
    if (this.column[a] === this.column[b]) return null;
    const back = this.column[a] > this.column[b] ? 1 : 0;
    const { rate } = directions[back];
    const feeds = this.scenario.links.filter((other, place) => place !== number
      && other.between.includes(back ? b : a) && this.column[other.between[0]] !== this.column[back ? b : a] + 1);
    const hosts = [a, b].every(node => this.scenario.nodes[node].kind === 'host');
    const others = this.scenario.links.filter((_, place) => place !== number).map(other => other.directions[back].rate);
    const narrow = rate !== null && others.some(other => other === null || other > rate);
    return hosts || (narrow && feeds.length > 0) ? 2 * number + back : null;
  }

  /** Draws the state of a run; `real` is the wall-clock time in milliseconds. */
  draw(run, real) {
    const { pen, width, height } = surface(this.canvas);
    this.pen = pen;
    this.narrow = width < NARROW;
    this.queueWidth = this.narrow ? 72 : 168;
    this.theme = Object.fromEntries(['text', 'soft', 'line', 'raised', 'link', 'wrong', 'wire', 'back'].map(name => [name, colour(`--${name}`)]));
    this.colours = new Map([...run.paths].map(([key, series]) => [key, colour(series.colour)]));
    this.places = this.scenario.nodes.map((_, node) => this.place(node, width, height));
    this.lines = this.scenario.links.map((_, link) => this.line(link, height));
    this.lines.forEach((line, link) => this.drawLink(line, run.linkRows[2 * link][6] === 1));
    const waiting = this.scenario.links.flatMap(() => [[], []]);
    const flying = this.scenario.links.flatMap(() => [[], []]);
    for (const row of run.packetRows) (row[1] > run.now ? waiting : flying)[row[0]].push(row);
    flying.forEach((packets, direction) => this.drawPackets(packets, direction, run.now));
    this.drawNodes();
    this.scenario.links.forEach((_, link) => this.drawLabel(run, link, flying[2 * link].length + flying[2 * link + 1].length));
    this.queues.forEach(direction => { if (direction !== null) this.drawQueue(run, direction, waiting[direction]); });
    this.drawDrops(run, real);
    this.describe(run, flying, waiting);
  }

  place(node, width, height) {
    const same = this.column.map((step, other) => [step, other]).filter(([step]) => step === this.column[node]).map(([, other]) => other);
    const margin = 62;
    const x = this.columns === 1 ? width / 2 : margin + (width - 2 * margin) * this.column[node] / (this.columns - 1);
    return { x, y: height * (same.indexOf(node) + 0.5) / same.length };
  }

  /** A curve from one node to the other; links between the same nodes bend apart. */
  line(link, height) {
    const [a, b] = this.scenario.links[link].between;
    const pair = ({ between }) => between.includes(a) && between.includes(b);
    const same = this.scenario.links.map((other, place) => [other, place]).filter(([other]) => pair(other)).map(([, place]) => place);
    const [from, to] = [this.places[a], this.places[b]];
    const place = same.indexOf(link) - (same.length - 1) / 2;
    const bend = same.length === 1 ? 0 : place * height * (this.columns === 2 ? 1.25 : 0.4);
    return { from, to, bend, middle: { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 + bend } };
  }

  /** A point on a line at `part` of its length, `aside` pixels to its left. */
  at({ from, to, middle }, part, aside) {
    const rest = 1 - part;
    const along = axis => rest * rest * from[axis] + 2 * rest * part * middle[axis] + part * part * to[axis];
    const slope = axis => 2 * rest * (middle[axis] - from[axis]) + 2 * part * (to[axis] - middle[axis]);
    const [dx, dy] = [slope('x'), slope('y')];
    const size = Math.hypot(dx, dy) || 1;
    return { x: along('x') + aside * dy / size, y: along('y') - aside * dx / size, angle: Math.atan2(dy, dx) };
  }

  /** Place of a packet that has travelled the fraction `part` of a link in this direction. */
  on(direction, part) {
    const back = direction % 2 === 1;
    const line = this.lines[direction >> 1];
    const right = line.from.x <= line.to.x;
    return this.at(line, back ? 1 - part : part, (back === right ? -1 : 1) * LANE);
  }

  drawLink(line, up) {
    const { pen, theme } = this;
    for (const side of [-LANE, LANE]) {
      pen.strokeStyle = up ? theme.wire : theme.wrong;
      pen.lineWidth = up ? 10 : 2;
      pen.setLineDash(up ? [] : [6, 5]);
      pen.beginPath();
      for (let part = 0; part <= 1.0001; part += 1 / 32) {
        const { x, y } = this.at(line, part, side);
        if (part === 0) pen.moveTo(x, y); else pen.lineTo(x, y);
      }
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  paint(flow, path) {
    return this.colours.get(`${flow} ${path}`) ?? this.theme.soft;
  }

  drawPackets(packets, direction, now) {
    const { pen, theme } = this;
    const line = this.lines[direction >> 1];
    const long = Math.min(9, Math.max(2.5, 0.75 * Math.hypot(line.to.x - line.from.x, line.to.y - line.from.y) / (packets.length + 1)));
    for (const [, start, arrival, flow, path, kind] of packets) {
      const { x, y, angle } = this.on(direction, (now - start) / (arrival - start));
      pen.save();
      pen.translate(x, y);
      pen.rotate(angle);
      pen.fillStyle = this.paint(flow, path);
      if (kind === 0) {
        pen.fillRect(-long / 2, -3.5, long, 7);
      } else if (kind === 1) {
        pen.rotate(Math.PI / 4);
        pen.fillRect(-4, -4, 8, 8);
        pen.strokeStyle = theme.wrong;
        pen.lineWidth = 2;
        pen.strokeRect(-4.5, -4.5, 9, 9);
      } else {
        pen.strokeStyle = this.paint(flow, path);
        pen.lineWidth = 1.2;
        pen.beginPath();
        pen.arc(0, 0, Math.min(2.4, long / 2), 0, 2 * Math.PI);
        pen.stroke();
      }
      pen.restore();
    }
  }

  drawNodes() {
    const { pen, theme } = this;
    pen.font = '600 12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    this.scenario.nodes.forEach(({ name, kind }, node) => {
      const { x, y } = this.places[node];
      const wide = Math.max(58, pen.measureText(name).width + 18);
      pen.fillStyle = theme.raised;
      pen.strokeStyle = kind === 'host' ? theme.link : theme.soft;
      pen.lineWidth = kind === 'host' ? 2 : 1.2;
      pen.beginPath();
      pen.roundRect(x - wide / 2, y - 17, wide, 34, kind === 'host' ? 6 : 17);
      pen.fill();
      pen.stroke();
      pen.fillStyle = theme.text;
      pen.fillText(name, x, y + 0.5);
    });
  }

  /** Name and properties of a link, if there is room. Fast links without delay have no properties to show. */
  drawLabel(run, link, flying) {
    const { name, directions: [forward] } = this.scenario.links[link];
    if (forward.delay < 1e-4) return;
    const { pen, theme, lines } = this;
    const { x, y } = this.at(lines[link], 0.5, 0);
    const rate = forward.rate === null ? 'any rate' : `${Number((forward.rate / 1e6).toPrecision(3))} Mbit/s`;
    const loss = forward.loss > 0 ? `, ${Number((100 * forward.loss).toPrecision(3))} % loss` : '';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    const top = lines[link].bend < 0 ? y - 38 : y + 23;
    pen.font = '600 12px system-ui, sans-serif';
    pen.fillStyle = theme.text;
    pen.fillText(name, x, top);
    if (this.narrow) return;
    pen.font = '12px system-ui, sans-serif';
    pen.fillStyle = theme.soft;
    const up = run.linkRows[2 * link][6] === 1;
    const state = up ? `${flying} packets on the wire` : 'out of service';
    pen.fillText(`${rate}, ${Number((1e3 * forward.delay).toPrecision(3))} ms${loss} · ${state}`, x, top + 15);
  }

  drawQueue(run, direction, packets) {
    const { pen, theme } = this;
    const [, , waiting, bytes, dropped] = run.linkRows[direction];
    const { room } = this.scenario.links[direction >> 1].directions[direction % 2];
    const full = room?.bytes === undefined ? waiting / Math.max(room?.packets ?? 60, waiting, 1) : Math.min(1, bytes / room.bytes);
    const { x, y } = this.queuePlace(direction);
    const cell = waiting === 0 ? 0 : this.queueWidth * full / waiting;
    pen.fillStyle = theme.wire;
    pen.fillRect(x, y, this.queueWidth, QUEUE_HEIGHT);
    // The next packet to be sent is at the right.
    for (let place = 0; place < waiting; place += 1) {
      const packet = packets[place];
      pen.fillStyle = packet === undefined ? theme.soft : this.paint(packet[3], packet[4]);
      pen.fillRect(x + this.queueWidth - (place + 1) * cell, y, Math.max(cell - (cell > 3 ? 1 : 0), 0.8), QUEUE_HEIGHT);
    }
    pen.strokeStyle = theme.soft;
    pen.lineWidth = 1;
    pen.strokeRect(x - 0.5, y - 0.5, this.queueWidth + 1, QUEUE_HEIGHT + 1);
    pen.font = '11px system-ui, sans-serif';
    pen.textAlign = 'left';
    pen.textBaseline = 'alphabetic';
    pen.fillStyle = theme.text;
    const kilo = number => (number / 1e3).toFixed(0);
    const text = room?.bytes === undefined ? `queue ${waiting}${room === null ? ' packets' : ` of ${room.packets} packets`}`
      : `queue ${kilo(bytes)} of ${kilo(room.bytes)} kB`;
    if (!this.narrow) pen.fillText(text, x, y - 5);
    if (dropped > 0) {
      pen.fillStyle = theme.wrong;
      pen.fillText(`${dropped} dropped`, x + (this.narrow ? 0 : pen.measureText(text).width + 10), y - 5);
    }
  }

  /** Upper left corner of a queue: beside its link, near the node that sends from the queue. */
  queuePlace(direction) {
    const line = this.lines[direction >> 1];
    const back = direction % 2 === 1;
    const node = back ? line.to : line.from;
    if (this.columns === 2) return { x: node.x - 40, y: node.y + (line.bend < 0 ? -114 : line.bend > 0 ? 110 : -58) };
    const { x, y } = this.at(line, back ? 0.7 : 0.3, 0);
    return { x: x - this.queueWidth / 2, y: y - 46 };
  }

  /** Packets that were dropped since the last picture fall off their link. */
  drawDrops(run, real) {
    const { pen, theme } = this;
    const counts = run.linkRows.map(row => row[4]);
    if (this.dropped !== null) {
      counts.forEach((count, direction) => {
        const fresh = Math.min(count - this.dropped[direction], 5);
        for (let n = 0; n < fresh; n += 1) this.drops.push({ direction, begun: real + 40 * n, aside: (n * 37) % 23 - 11 });
      });
    }
    this.dropped = counts;
    this.drops = this.drops.filter(({ begun }) => real - begun < FALL);
    pen.font = 'bold 16px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillStyle = theme.wrong;
    for (const { direction, begun, aside } of this.drops) {
      const age = Math.max(0, (real - begun) / FALL);
      const full = this.queues.includes(direction) && run.linkRows[direction][2] > 0;
      const { x, y } = full ? this.queuePlace(direction) : this.on(direction, 0.5);
      pen.globalAlpha = 1 - age;
      pen.fillText('×', x + (full ? 4 : 0) + aside, y + 8 + 26 * age * age);
      pen.globalAlpha = 1;
    }
  }

  describe(run, flying, waiting) {
    const parts = this.scenario.links.map(({ name }, link) => {
      const many = sides => sides[2 * link].length + sides[2 * link + 1].length;
      return `${name}: ${many(flying)} packets on the wire, ${many(waiting)} waiting`;
    });
    this.canvas.setAttribute('aria-label', `Network at ${run.now.toFixed(2)} s. ${parts.join('; ')}`);
  }
}
