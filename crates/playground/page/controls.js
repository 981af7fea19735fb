// The sliders and choices of a scenario, and the settings that they change.

/** The value of a control in the notation of a scenario file. */
function setting(control, value) {
  if (control.values === undefined) return control.unit === '%' ? String(Number((value / 100).toFixed(6)))
    : control.unit === 'packets' ? String(value) : `${value} ${control.unit}`;
  const chosen = control.values.find(one => (one.label ?? one) === value);
  return chosen.set ?? chosen;
}

class Controls {
  /** `change` is called after each change of a value. */
  constructor(form, change) {
    this.form = form;
    this.change = change;
    this.list = [];
  }

  /** Shows the controls of a scenario with their values in the file. */
  show(scenario) {
    this.form.replaceChildren();
    this.list = scenario.controls.map(control => ({ control, value: control.value }));
    const groups = new Map();
    for (const entry of this.list) {
      const { group } = entry.control;
      if (!groups.has(group)) {
        const set = document.createElement('fieldset');
        const legend = document.createElement('legend');
        legend.textContent = group;
        set.append(legend);
        this.form.append(set);
        groups.set(group, set);
      }
      groups.get(group).append(this.row(entry));
    }
  }

  row(entry) {
    const { control } = entry;
    const label = document.createElement('label');
    const name = document.createElement('span');
    label.className = 'control';
    name.textContent = control.label;
    label.append(name);
    const slides = control.values === undefined || control.slider;
    const input = document.createElement(slides ? 'input' : 'select');
    input.dataset.key = control.key;
    const output = document.createElement('output');
    if (slides) {
      input.type = 'range';
      const places = control.values ?? null;
      input.min = places ? 0 : control.min;
      input.max = places ? places.length - 1 : control.max;
      input.step = places ? 1 : control.step;
      input.value = places ? places.indexOf(control.value) : control.value;
      label.append(output);
    } else {
      for (const one of control.values) input.add(new Option(one.label ?? one));
      input.value = control.value;
      label.append(document.createElement('span'));
    }
    const show = () => {
      entry.value = !slides ? input.value : control.values ? control.values[input.value] : Number(input.value);
      const text = control.values ? entry.value : `${entry.value} ${control.unit}`;
      output.textContent = text;
      if (slides) input.setAttribute('aria-valuetext', text);
      label.classList.toggle('changed', entry.value !== control.value);
    };
    input.addEventListener('input', () => { show(); this.change(); });
    label.append(input);
    show();
    return label;
  }

  /** Pairs of key and value of all controls that differ from the file or choose one of its variations. */
  settings() {
    const used = this.list.filter(({ control, value }) => control.always || value !== control.value);
    return used.flatMap(({ control, value }) =>
      [[control.key, setting(control, value)], ...Object.entries(control.also ?? {})]);
  }
}
