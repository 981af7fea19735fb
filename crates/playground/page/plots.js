// Curves over time on a canvas.

/** About `count` round numbers from 0 to `most`, at equal distances. */
function ticks(most, count) {
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(candidate => candidate >= raw * 0.999);
  const values = [];
  for (let n = 0; n * step <= most * 1.0001; n += 1) values.push(Number((n * step).toPrecision(10)));
  return values;
}

/** A canvas in the pixels of the screen, cleared; sizes are in CSS pixels. */
function surface(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

/** The colour in a variable of the style sheet. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const EDGE = { left: 46, right: 10, top: 10, bottom: 24 };

/** Draws curves. Each curve has `time`, `values`, a `colour`, and optionally `dashed` or `width`. */
function plot(canvas, curves, { length, now, unit }) {
  const { pen, width, height } = surface(canvas);
  let most = 0;
  for (const { values, dashed } of curves) if (!dashed) for (const value of values) if (value > most) most = value;
  most = most > 0 ? most * 1.06 : 1;
  const x = time => EDGE.left + (width - EDGE.left - EDGE.right) * time / length;
  const y = value => height - EDGE.bottom - (height - EDGE.top - EDGE.bottom) * value / most;
  pen.font = '11px system-ui, sans-serif';
  pen.fillStyle = colour('--soft');
  pen.strokeStyle = colour('--line');
  pen.lineWidth = 1;
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  for (const value of ticks(most, 4)) {
    const at = Math.round(y(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(EDGE.left, at);
    pen.lineTo(width - EDGE.right, at);
    pen.stroke();
    pen.fillText(value.toLocaleString('en'), EDGE.left - 6, at);
  }
  pen.textBaseline = 'top';
  pen.textAlign = 'center';
  const times = ticks(length, 6);
  times.forEach((time, place) => {
    pen.fillText(place === times.length - 1 ? `${time} s` : String(time), Math.min(x(time), width - 14), height - EDGE.bottom + 7);
  });
  for (const curve of curves) draw(pen, curve, most, x, y);
  pen.strokeStyle = colour('--soft');
  pen.setLineDash([]);
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x(Math.min(now, length)), EDGE.top);
  pen.lineTo(x(Math.min(now, length)), height - EDGE.bottom);
  pen.stroke();
  const last = curves.filter(({ name }) => name).map(({ name, values }) => `${name} ${(values.at(-1) ?? 0).toFixed(1)} ${unit}`);
  canvas.setAttribute('aria-label', `${canvas.dataset.title} at ${now.toFixed(2)} s: ${last.join(', ') || 'nothing yet'}`);
}

/** Draws one curve; values that are missing or above `most` are left out. */
function draw(pen, { time, values, colour: name, dashed, width }, most, x, y) {
  pen.strokeStyle = colour(name);
  pen.lineWidth = width ?? 1.6;
  pen.lineJoin = 'round';
  pen.setLineDash(dashed ? [4, 3] : []);
  pen.beginPath();
  let down = false;
  values.forEach((value, at) => {
    if (!(value <= most)) { down = false; return; }
    if (down) pen.lineTo(x(time[at]), y(value)); else pen.moveTo(x(time[at]), y(value));
    down = true;
  });
  pen.stroke();
}
