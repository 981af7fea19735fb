// The points of a sweep: the controls choose quantity, flow and values of axes; the picture and the table show the same.
window.anabranchSweep = (document_) => {
  const { axes, columns, order, numbers, paths, units } = JSON.parse(document.getElementById("sweep-data").textContent);
  const form = document.getElementById("sweep-controls"), place = document.getElementById("sweep-table");
  const COLORS = ["#3a86c8", "#d9662b", "#1fa187", "#c267a8", "#c99700", "#7a6fd0", "#8a8a8a", "#b04a4a"];
  // Lines are told apart by colour, and beyond that by marker.
  const MARKERS = [["circle", "●"], ["square", "■"], ["triangle", "▲"], ["diamond", "◆"]];
  const MOST = 500;
  const model = (name) => document_.get_model_by_name(name);
  const label = (i) => paths[columns.quantity[i].startsWith("back_") ? "back" : "forward"][columns.flow[i]][columns.path[i]];
  const of = (i) => [columns.flow[i], columns.path[i] === null ? null : label(i), columns.window[i] ? `window ${columns.window[i]}` : null].filter((v) => v !== null).join(", ");
  const rows = [...columns.mean.keys()];
  const short = (v) => v === null ? "" : Number.isInteger(v) ? String(v) : Math.abs(v) < 1e-3 || Math.abs(v) >= 1e7 ? v.toExponential(3) : String(+v.toPrecision(5));

  function flows() {
    const found = [...new Set(rows.filter((i) => columns.quantity[i] === form.quantity.value).map(of))];
    const before = form.of.value;
    form.of.replaceChildren(...found.map((name) => new Option(name, name, false, name === before)));
  }

  function chosen() {
    return rows.filter((i) => columns.quantity[i] === form.quantity.value && of(i) === form.of.value
      && axes.every((axis, n) => form[`axis-${n}`].value === "all" || columns[axis][i] === form[`axis-${n}`].value));
  }

  function picture(points, { scale, label: name, may_be_negative: negative }) {
    const x = form.x.value, others = axes.filter((axis) => axis !== x), groups = new Map();
    const along = (i) => x ? numbers[x] ? numbers[x][order[x][columns[x][i]]] : order[x][columns[x][i]] : 0;
    const shown = { x: [], y: [], low: [], high: [], bottom: [], color: [], marker: [], label: [] }, lines = { xs: [], ys: [], color: [] };
    for (const i of [...points].sort((a, b) => along(a) - along(b))) {
      const label = others.map((axis) => `${axis} = ${columns[axis][i]}`).join(", ") || form.of.value;
      if (!groups.has(label)) {
        const [marker, sign] = MARKERS[Math.floor(groups.size / COLORS.length) % MARKERS.length];
        groups.set(label, { color: COLORS[groups.size % COLORS.length], marker, sign, xs: [], ys: [] });
      }
      const group = groups.get(label), mean = columns.mean[i] * scale, half = (columns.half_width[i] ?? 0) * scale;
      group.xs.push(along(i)); group.ys.push(mean);
      shown.x.push(along(i)); shown.y.push(mean); shown.low.push(mean - half); shown.high.push(mean + half);
      // An interval is drawn down to 0 if nothing less is possible; the number stays what it is.
      shown.bottom.push(negative ? mean - half : Math.max(0, mean - half));
      shown.color.push(group.color); shown.marker.push(group.marker); shown.label.push(`${label}${x ? `; ${x} = ${columns[x][i]}` : ""}`);
    }
    for (const { color, xs, ys } of groups.values()) { lines.xs.push(xs); lines.ys.push(ys); lines.color.push(color); }
    model("points:points").data = shown;
    model("points:lines").data = lines;
    const ticks = x ? numbers[x] ?? Object.values(order[x]) : [0], names = x ? Object.keys(order[x]) : [""];
    const figure = model("points"), [low, high] = [Math.min(...ticks), Math.max(...ticks)], margin = (high - low || 1) * 0.06;
    figure.x_range.setv({ start: low - margin, end: high + margin, reset_start: low - margin, reset_end: high + margin });
    const [bottom, top] = [Math.min(0, ...shown.bottom), Math.max(...shown.high, 0)];
    figure.y_range.setv({ start: bottom * 1.06, end: top * 1.06 || 1, reset_start: bottom * 1.06, reset_end: top * 1.06 || 1 });
    const [xaxis] = figure.below, [yaxis] = figure.left;
    if (!x || !numbers[x]) {
      xaxis.ticker = new (Bokeh.Models.get("FixedTicker"))({ ticks });
      xaxis.major_label_overrides = new Map(ticks.map((t, n) => [t, names[n]]));
    } else {
      xaxis.ticker = new (Bokeh.Models.get("BasicTicker"))();
      xaxis.major_label_overrides = new Map();
    }
    const suffix = x && numbers[x] ? names[0].split(" ").slice(1).join(" ") : "";
    xaxis.axis_label = suffix ? `${x}, ${suffix}` : x;
    yaxis.axis_label = name;
    return groups;
  }

  // The key of the lines, if there are several.
  function legend(groups) {
    const entries = groups.size > 1 ? [...groups] : [];
    document.getElementById("sweep-key").replaceChildren(...entries.map(([label, { color, sign }]) => {
      const entry = document.createElement("li"), mark = entry.appendChild(document.createElement("span"));
      mark.textContent = sign;
      mark.style.color = color;
      entry.append(` ${label}`);
      return entry;
    }));
  }

  function list(points, { scale, unit: name }, groups) {
    const cell = (tag, text, right) => { const c = document.createElement(tag); c.textContent = text; if (right) c.className = "n"; return c; };
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    const caption = table.createCaption();
    caption.textContent = `${points.length} points of ${form.quantity.value}, ${form.of.value}`;
    if (points.length > MOST) caption.textContent += `; the first ${MOST} are listed: choose values of axes`;
    const axis_cells = axes.map((axis) => cell("th", axis));
    head.append(cell("th", ""), ...axis_cells, ...["mean", "± (95 %)", "replicas", "runs"].map((t, n) => cell("th", n < 2 && name ? `${t}, ${name}` : t, true)));
    const others = axes.filter((axis) => axis !== form.x.value);
    for (const i of points.slice(0, MOST)) {
      const row = body.insertRow(), label = others.map((axis) => `${axis} = ${columns[axis][i]}`).join(", ") || form.of.value;
      const { sign, color } = groups.get(label), key = cell("td", sign);
      key.style.color = color;
      key.setAttribute("aria-hidden", "true");
      const half = columns.half_width[i];
      row.append(key, ...axes.map((axis) => cell("td", columns[axis][i])), cell("td", short(columns.mean[i] * scale), true),
        cell("td", half === null ? "one replica" : short(half * scale), true), cell("td", columns.count[i], true));
      if (columns.run) {
        const link = document.createElement("a"), at = row.insertCell();
        link.href = `#run-${columns.run[i]}`;
        link.textContent = `from ${columns.run[i]}`;
        at.append(link);
      }
    }
    place.replaceChildren(table);
  }

  const show = () => { const points = chosen(), unit = units[form.quantity.value], groups = picture(points, unit); legend(groups); list(points, unit, groups); };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => { if (event.target.name === "quantity") flows(); show(); });
  // A link to a run unfolds the table of runs.
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1)), folded = target?.closest("details");
    if (folded) { folded.open = true; target.scrollIntoView(); }
  });
  flows();
  show();
};
