// The page: chooses a scenario, runs it at the chosen speed, and shows it.

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** Milliseconds of a frame that the simulation may take. */
const BUDGET = 24;
/** Milliseconds between two pictures of the curves. Drawing the curves takes longer than drawing the network. */
const CURVES_EVERY = 90;

const element = id => document.getElementById(id);
const scenarios = JSON.parse(element('scenarios').textContent);

class Page {
  constructor() {
    this.controls = new Controls(element('controls'), () => this.rebuild());
    this.network = new Network(element('network'));
    this.running = false;
    this.toEnd = false;
    this.run = null;
    this.before = null;
    this.catchUp = 0;
    this.lastFrame = 0;
    this.lastCurves = 0;
    for (const { name } of scenarios) element('scenario').add(new Option(name));
    for (const speed of SPEEDS) element('speed').add(new Option(`${speed} ×`, String(speed)));
    element('scenario').addEventListener('change', () => this.choose());
    element('run').addEventListener('click', () => this.setRunning(!this.running));
    element('step').addEventListener('click', () => { this.setRunning(false); this.advance(this.speed() / 60, Infinity); });
    element('reset').addEventListener('click', () => { this.catchUp = 0; this.rebuild(0); });
    element('end').addEventListener('click', () => { this.toEnd = true; });
    for (const [id, title] of [['cwnd', 'Congestion window'], ['throughput', 'Throughput'], ['srtt', 'Smoothed RTT'], ['queue', 'Queues']]) {
      element(id).dataset.title = title;
    }
    this.choose();
    this.setRunning(!matchMedia('(prefers-reduced-motion: reduce)').matches);
    requestAnimationFrame(real => this.frame(real));
  }

  speed() {
    return Number(element('speed').value);
  }

  setRunning(running) {
    this.running = running && !(this.run?.over ?? true);
    element('run').textContent = this.running ? 'Pause' : 'Run';
  }

  choose() {
    this.chosen = scenarios[element('scenario').selectedIndex];
    element('lesson').textContent = this.chosen.lesson;
    element('text').textContent = this.chosen.text;
    element('speed').value = String(this.chosen.speed);
    this.controls.show(this.chosen);
    this.before = null;
    this.rebuild(0);
  }

  /** Builds a run with the present settings, and simulates it up to the time that the last run had reached. */
  rebuild(until = Math.max(this.run?.now ?? 0, this.catchUp)) {
    const settings = this.controls.settings();
    this.command(settings);
    let run;
    try {
      run = new Run(this.chosen.text, settings.flat());
    } catch (error) {
      this.fail(error);
      return;
    }
    element('error').hidden = true;
    // While a slider is dragged, the curves are compared with the run before the change.
    if (this.run !== null && this.run.now > this.catchUp - NANOSECOND) this.before = this.run.flows;
    if (until === 0) this.before = null;
    this.run?.free();
    this.run = run;
    this.toEnd = false;
    this.catchUp = until;
    for (const [id, text] of [['digest', 'known at the end of the run'], ['hops', 'known at the end of the run'], ['notes', 'none']]) {
      element(id).textContent = text;
    }
    this.network.show(run.scenario);
    this.legend = '';
    this.draw(performance.now(), true);
  }

  fail(error) {
    this.setRunning(false);
    element('error').textContent = String(error);
    element('error').hidden = false;
  }

  command(settings) {
    const quoted = settings.map(([key, value]) => ` \\\n    --set '${key}=${value}'`);
    element('command').textContent = `anabranch run ${this.chosen.file}${quoted.join('')}`;
  }

  frame(real) {
    const passed = Math.min(real - this.lastFrame, 100) / 1e3;
    this.lastFrame = real;
    const { run } = this;
    if (run !== null && !run.over) {
      if (this.toEnd) this.advance(Infinity);
      else if (run.now < this.catchUp - NANOSECOND) this.advance(this.catchUp - run.now);
      else if (this.running) this.advance(passed * this.speed());
    }
    if (run !== null) this.draw(real, false);
    requestAnimationFrame(again => this.frame(again));
  }

  /** Simulates some seconds, but stops after `budget` milliseconds of real time. */
  advance(seconds, budget = BUDGET) {
    const { run } = this;
    if (run === null || run.over) return;
    try {
      run.advance(Math.min(run.now + seconds, 1e6), budget);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (run.over) this.finish();
  }

  finish() {
    const result = this.run.finish();
    this.toEnd = false;
    this.setRunning(false);
    element('digest').textContent = result.digest;
    element('hops').textContent = result.packet_hops.toLocaleString('en');
    element('notes').textContent = [...result.warnings, ...result.failures].join('; ') || 'none';
    this.draw(performance.now(), true);
  }

  draw(real, all) {
    const { run } = this;
    this.network.draw(run, real);
    element('clock').textContent = `${run.now.toFixed(3)} s of ${run.length.toFixed(0)} s`;
    element('progress').max = run.length;
    element('progress').value = Math.min(run.now, run.length);
    if (!all && real - this.lastCurves < CURVES_EVERY) return;
    this.lastCurves = real;
    this.drawLegend();
    this.drawCurves();
    this.drawFlows();
  }

  drawLegend() {
    const { run } = this;
    const entries = [...run.paths.values()].map(series => [series.colour, run.name(series)]);
    for (const { name } of run.scenario.transfers) entries.push(['--soft', `${name} (short transfers)`]);
    const text = JSON.stringify(entries);
    if (text === this.legend) return;
    this.legend = text;
    element('paths').replaceChildren(...entries.map(([name, label]) => {
      const item = document.createElement('li');
      const mark = document.createElement('i');
      mark.style.background = `var(${name})`;
      item.append(mark, label);
      return item;
    }));
  }

  drawCurves() {
    const { run } = this;
    const axis = { length: Math.max(run.length, Math.min(run.now, run.length + 1)), now: run.now };
    const paths = [...run.paths.values()];
    const of = quantity => paths.map(series =>
      ({ time: series.time, values: series[quantity], colour: series.colour, name: run.name(series) }));
    const thresholds = paths.map(series => ({ time: series.time, values: series.ssthresh, colour: series.colour, dashed: true, width: 1 }));
    plot(element('cwnd'), [...thresholds, ...of('cwnd')], { ...axis, unit: 'kB' });
    plot(element('srtt'), of('srtt'), { ...axis, unit: 'ms' });
    plot(element('throughput'), this.throughput(paths), { ...axis, unit: 'Mbit/s' });
    const shown = this.network.queues.filter(direction => direction !== null);
    const names = shown.map(direction => run.scenario.links[direction >> 1].name);
    const queues = shown.map((direction, place) => ({
      time: run.links[direction].time, values: run.links[direction].waiting, name: names[place], colour: this.queueColour(direction, place),
    }));
    element('queue-note').textContent = `waiting packets${names.length === 1 ? ` before ${names[0]}` : ''}`;
    plot(element('queue'), queues, { ...axis, unit: 'packets' });
  }

  /** The colour of the path if only one path uses a link; otherwise a separate colour. */
  queueColour(direction, place) {
    const name = this.run.scenario.links[direction >> 1].name;
    const own = [...this.run.paths.values()].find(series => series.link === name);
    return own?.colour ?? (place === 0 ? '--text' : '--soft');
  }

  /** Seconds over which rates are averaged. */
  window() {
    return Math.max(0.25, this.run.length / 40);
  }

  throughput(paths) {
    const { run, before } = this;
    const window = this.window();
    const curves = (before ?? []).map(({ time, received }) =>
      ({ time, values: rates(time, received, window), colour: '--ghost', width: 2.5 }));
    let total = false;
    run.flows.forEach(({ time, received }, flow) => {
      const own = paths.filter(series => series.flow === flow);
      total ||= own.length > 1;
      if (own.length > 1) {
        for (const series of own) {
          curves.push({ time: series.time, values: rates(series.time, series.sent, window), colour: series.colour, name: run.name(series) });
        }
      }
      const name = `${run.scenario.flows[flow].name}, received`;
      curves.push({ time, values: rates(time, received, window), colour: own.length === 1 ? own[0].colour : '--text', width: 2.2, name });
    });
    const parts = ['Mbit/s', total ? 'thick: received' : '', before ? 'grey: before the change' : ''];
    element('throughput-note').textContent = parts.filter(Boolean).join('; ');
    return curves;
  }

  drawFlows() {
    const { run } = this;
    const numbers = run.scenario.flows.map(({ name, protocol }, flow) => {
      const { time, received, limit } = run.flows[flow];
      const last = time.length - 1;
      const first = received.findIndex(bytes => bytes > 0);
      const mean = first > 0 ? 8e-6 * received[last] / (time[last] - time[first - 1]) : 0;
      const now = rates(time, received, this.window()).at(-1) ?? 0;
      const again = [...run.paths.values()].filter(series => series.flow === flow).map(series => series.again.at(-1) ?? 0);
      const limits = run.scenario.limits[limit[last]] ?? '–';
      return [name, protocol, ((received[last] ?? 0) / 1e6).toFixed(2), mean.toFixed(2), now.toFixed(2), String(again.reduce((a, b) => a + b, 0)), limits];
    });
    element('flows').replaceChildren(...numbers.map(cells => {
      const row = document.createElement('tr');
      cells.forEach((text, column) => {
        const cell = document.createElement(column === 0 ? 'th' : 'td');
        if (column === 0) cell.scope = 'row';
        if (column >= 2 && column <= 5) cell.className = 'n';
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    }));
  }
}

/** For tests and for the console: the page, and the digest of a whole run of a scenario. */
window.anabranch = { ready: false, page: null, digest: null };

async function start() {
  const bytes = Uint8Array.from(atob(element('module').textContent.trim()), letter => letter.charCodeAt(0));
  await wasm_bindgen({ module_or_path: bytes });
  window.anabranch.digest = (file, settings) => {
    const run = new wasm_bindgen.Playground(scenarios.find(one => one.file === file).text, settings);
    run.advance(1e6);
    return JSON.parse(run.finish()).digest;
  };
  window.anabranch.page = new Page();
}

start().catch(error => {
  element('error').textContent = `This browser cannot run the simulator: ${error}`;
  element('error').hidden = false;
  console.error(error);
}).finally(() => { window.anabranch.ready = true; });
