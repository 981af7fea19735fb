'use strict';
// A run in the WebAssembly module, and the samples that were fetched from the module.

/** Number of values in a row of each kind, as in the module. */
const ROW = { path: 9, flow: 4, link: 7, packet: 6 };

/** The module rounds times to multiples of this. */
const NANOSECOND = 1e-9;

/** Calls `take` with each row of a flat array. */
function rows(numbers, width, take) {
  for (let at = 0; at < numbers.length; at += width) take(numbers.subarray(at, at + width));
}

class Run {
  /** Throws the text of the error if the scenario cannot be used. */
  constructor(text, settings) {
    this.module = new wasm_bindgen.Playground(text, settings);
    this.scenario = JSON.parse(this.module.description());
    this.length = this.module.planned_end();
    this.over = false;
    this.result = null;
    this.paths = new Map();
    this.names = [];
    this.flows = this.scenario.flows.map(() => ({ time: [], received: [], limit: [] }));
    this.links = this.scenario.links.flatMap(() => [0, 1]).map(() => ({ time: [], waiting: [] }));
    this.now = 0;
    this.look();
  }

  /** Simulates up to `until` seconds, but not much longer than `budget` milliseconds of real time. */
  advance(until, budget) {
    const begun = performance.now();
    let slice = Math.max((until - this.now) / 8, 1e-4);
    while (!this.over && this.now < until - NANOSECOND && performance.now() - begun < budget) {
      const before = performance.now();
      this.over = this.module.advance(Math.min(until, this.now + slice));
      this.now = this.module.now();
      if (performance.now() - before < budget / 8) slice *= 2;
    }
    this.look();
  }

  /** Fetches samples, and the state of links and packets. */
  look() {
    rows(this.module.path_samples(), ROW.path, row => this.addPath(row));
    rows(this.module.flow_samples(), ROW.flow, ([time, flow, received, limit]) => {
      const series = this.flows[flow];
      series.time.push(time);
      series.received.push(received);
      series.limit.push(limit);
    });
    rows(this.module.link_samples(), ROW.link, row => {
      this.links[row[1]].time.push(row[0]);
      this.links[row[1]].waiting.push(row[2]);
    });
    if (this.names.flat().length < this.paths.size) this.names = JSON.parse(this.module.path_names());
    this.linkRows = [];
    rows(this.module.links(), ROW.link, row => this.linkRows.push(row));
    this.packetRows = [];
    rows(this.module.packets(), ROW.packet, row => this.packetRows.push(row));
    for (const [direction, , , flow, path] of this.packetRows) this.learn(direction, flow, path);
  }

  addPath([time, flow, path, cwnd, ssthresh, flight, srtt, sent, again]) {
    const series = this.path(flow, path);
    series.time.push(time);
    series.cwnd.push(cwnd / 1e3);
    series.ssthresh.push(ssthresh / 1e3);
    series.srtt.push(srtt * 1e3);
    series.sent.push(sent);
    series.again.push(again);
  }

  /** The series of a path; made when it is first seen. */
  path(flow, path) {
    const key = `${flow} ${path}`;
    if (!this.paths.has(key)) {
      const series = { flow, path, colour: `--path-${this.paths.size % 6}`, link: null };
      for (const name of ['time', 'cwnd', 'ssthresh', 'srtt', 'sent', 'again']) series[name] = [];
      this.paths.set(key, series);
    }
    return this.paths.get(key);
  }

  /** Remembers the link that leads a path from host to host. */
  learn(direction, flow, path) {
    const link = this.scenario.links[direction >> 1];
    if (Number.isNaN(flow) || Number.isNaN(path) || link.between.some(node => this.scenario.nodes[node].kind !== 'host')) return;
    this.path(flow, path).link ??= link.name;
  }

  /** Name of a path, for legends. */
  name(series) {
    const flow = this.scenario.flows[series.flow].name;
    const many = [...this.paths.values()].filter(other => other.flow === series.flow).length > 1;
    if (!many) return flow;
    const name = this.names[series.flow]?.[series.path] ?? null;
    return `${flow}, path ${series.path}${name === null ? '' : ` (${name})`}`;
  }

  /** The totals of a run that is over, which ends it. */
  finish() {
    if (this.result === null) {
      this.result = JSON.parse(this.module.finish());
      this.module = null;
    }
    return this.result;
  }

  free() {
    if (this.module !== null) this.module.free();
    this.module = null;
  }
}

/** Rates in Mbit/s from a counter of bytes, each over the last `window` seconds. */
function rates(time, bytes, window) {
  let from = 0;
  return time.map((now, at) => {
    while (now - time[from] > window) from += 1;
    const span = now - time[from];
    return span > 0 ? 8e-6 * (bytes[at] - bytes[from]) / span : 0;
  });
}
