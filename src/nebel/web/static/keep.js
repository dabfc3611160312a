// What this browser remembers: strings under `nebel-NAME`; nothing where storage is not allowed.
export function kept(name) {
  try {
    return localStorage.getItem(`nebel-${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`nebel-${name}`);
    else localStorage.setItem(`nebel-${name}`, value);
  } catch { /* then it lasts as long as the page */ }
}
