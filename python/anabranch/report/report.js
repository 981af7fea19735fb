// What a report does in the browser: colours for light, dark and print, one axis of time, curves thinned out for it.
"use strict";
(() => {
  const PER_BUCKET = 3;
  const errors = [];
  window.addEventListener("error", (event) => errors.push(event.message));
  window.anabranch = { errors, ready: false };

  const colors = {
    light: { back: "#ffffff", text: "#1d2730", line: "#e3e7ea", axis: "#8a949c" },
    dark: { back: "#161b20", text: "#dbe2e8", line: "#2b333a", axis: "#78828b" },
  };

  function paint(document_, name) {
    const c = colors[name];
    for (const model of document_._all_models.values()) {
      const kind = model.type;
      if (kind === "Figure") model.setv({ background_fill_color: c.back, border_fill_color: c.back, outline_line_color: c.line });
      else if (kind.endsWith("Axis")) model.setv({ axis_label_text_color: c.text, major_label_text_color: c.text, axis_line_color: c.axis, major_tick_line_color: c.axis, minor_tick_line_color: null });
      else if (kind === "Grid") model.setv({ grid_line_color: model.tags.includes("none") ? null : c.line });
      else if (kind === "Legend") model.setv({ label_text_color: c.text, background_fill_color: c.back, inactive_fill_color: c.back });
      else if (kind === "Title") model.setv({ text_color: c.text });
    }
  }

  // The first index whose time is at least t.
  function lower(times, t) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < t) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Of each bucket between two times the least, the greatest and the last point, and one point on each side. The last one
  // holds its value up to the next bucket, however far it is.
  function thin(full, start, end, most) {
    const first = Math.max(0, lower(full.time, start) - 1), last = Math.min(full.time.length, lower(full.time, end) + 1);
    const time = full.time.subarray(first, last), value = full.value.subarray(first, last);
    if (time.length <= most) return { time, value };
    const buckets = Math.floor(most / PER_BUCKET), width = (end - start) / buckets, kept = [];
    const bucket = (i) => Math.max(0, Math.min(buckets - 1, Math.floor((time[i] - start) / width)));
    for (let i = 0; i < time.length;) {
      const b = bucket(i);
      let low = i, high = i, j = i;
      for (; j < time.length && bucket(j) === b; j++) {
        if (value[j] < value[low]) low = j;
        if (value[j] > value[high]) high = j;
      }
      kept.push(...new Set([low, high, j - 1].sort((a, z) => a - z)));
      i = j;
    }
    return { time: Float64Array.from(kept, (i) => time[i]), value: Float64Array.from(kept, (i) => value[i]) };
  }

  function curves(document_, range) {
    const all = [...document_._all_models.values()];
    const sources = all.filter((m) => m.type === "ColumnDataSource" && (m.name ?? "").startsWith("curve-"));
    const full = new Map(sources.map((s) => [s, { time: Float64Array.from(s.data.time), value: Float64Array.from(s.data.value) }]));
    const following = all.filter((m) => m.type === "Figure" && m.tags.includes("follow"));
    const whole = new Map(following.map((f) => [f, [f.y_range.start, f.y_range.end]]));
    // Two pixels for each bucket.
    const most = (PER_BUCKET * Math.max(600, Math.min(2000, document.documentElement.clientWidth))) / 2;
    const limits = [range.start, range.end];

    function show() {
      const { start, end } = range;
      for (const [source, data] of full) {
        const shown = thin(data, start, end, most);
        if (shown.time.length !== source.data.time.length || full.get(source).time.length > most) source.data = shown;
      }
      // A flow's TSNs grow with time, so the vertical axis has to follow the horizontal one.
      for (const drawn of following) {
        let low = Infinity, high = -Infinity;
        for (const renderer of drawn.renderers) {
          const data = full.get(renderer.data_source);
          if (!data || !renderer.visible) continue;
          for (let i = lower(data.time, start); i < data.time.length && data.time[i] <= end; i++) {
            low = Math.min(low, data.value[i]);
            high = Math.max(high, data.value[i]);
          }
        }
        const all_ = start <= limits[0] && end >= limits[1];
        const [from, to] = all_ || low > high ? whole.get(drawn) : [low - 0.05 * (high - low) - 1, high + 0.05 * (high - low) + 1];
        drawn.y_range.setv({ start: from, end: to });
      }
    }
    // Curves are drawn only once they are thinned out: a canvas takes seconds for all their points.
    const hidden = all.filter((m) => m.type === "GlyphRenderer" && m.tags.includes("shown"));
    let asked = 0;
    const ask = () => { if (!asked) asked = requestAnimationFrame(() => { asked = 0; show(); }); };
    range.properties.start.change.connect(ask);
    range.properties.end.change.connect(ask);
    show();
    for (const renderer of hidden) renderer.visible = true;
  }

  // The buttons above the panels, for readers without a mouse.
  function controls(range) {
    const box = document.getElementById("time-controls");
    if (!box) return;
    const whole = [range.start, range.end];
    const fields = [...box.querySelectorAll("input")];
    const go = (start, end) => {
      const width = Math.min(end - start, whole[1] - whole[0]);
      const from = Math.max(whole[0], Math.min(start, whole[1] - width));
      range.setv({ start: from, end: from + width });
    };
    const tell = () => { fields[0].value = +range.start.toPrecision(7); fields[1].value = +range.end.toPrecision(7); };
    const acts = {
      in: (s, w) => go(s + w / 4, s + (3 * w) / 4), out: (s, w) => go(s - w / 2, s + (3 * w) / 2),
      left: (s, w) => go(s - w / 2, s + w / 2), right: (s, w) => go(s + w / 2, s + (3 * w) / 2),
      whole: () => go(...whole),
    };
    for (const button of box.querySelectorAll("button")) {
      button.addEventListener("click", () => acts[button.dataset.act](range.start, range.end - range.start));
    }
    for (const field of fields) {
      field.addEventListener("change", () => {
        const [start, end] = fields.map((f) => Number(f.value));
        if (end > start) go(start, end);
      });
    }
    range.properties.start.change.connect(tell);
    range.properties.end.change.connect(tell);
    tell();
  }

  function begin(document_) {
    const range = document_.get_model_by_name("time");
    const dark = window.matchMedia("(prefers-color-scheme: dark)"), print = window.matchMedia("print");
    const unfold = (open) => { for (const e of document.querySelectorAll("details.printed")) e.open = open; };
    const apply = () => paint(document_, dark.matches && !print.matches ? "dark" : "light");
    dark.addEventListener("change", apply);
    print.addEventListener("change", apply);
    window.addEventListener("beforeprint", () => {
      paint(document_, "light");
      // The paper does not wait for the next frame.
      for (const view of Bokeh.index.roots) view.repaint();
      unfold(true);
    });
    window.addEventListener("afterprint", () => { apply(); unfold(false); });
    apply();
    if (range) {
      curves(document_, range);
      controls(range);
    }
    if (window.anabranchSweep) window.anabranchSweep(document_);
    window.anabranch.document = document_;
  }

  window.addEventListener("load", () => {
    const finish = () => requestAnimationFrame(() => { window.anabranch.ready = true; });
    if (!window.Bokeh) return finish();
    const wait = () => {
      const found = Bokeh.documents[0];
      if (!found || !found.is_idle) return setTimeout(wait, 10);
      begin(found);
      finish();
    };
    wait();
  });
})();
