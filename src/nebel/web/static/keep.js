// What this browser remembers: strings under `nebel-NAME`, in all its tabs or in this one alone; nothing where storage is not allowed.
const store = (tab) => (tab ? sessionStorage : localStorage);

export function kept(name, tab = false) {
  try {
    return store(tab).getItem(`nebel-${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value, tab = false) {
  try {
    if (value === null) store(tab).removeItem(`nebel-${name}`);
    else store(tab).setItem(`nebel-${name}`, value);
  } catch { /* then it lasts as long as the page */ }
}
