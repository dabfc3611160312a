// Before the first paint: the colours that were chosen last time. Without a choice the system's are taken.
(() => {
  try {
    const chosen = localStorage.getItem("nebel-theme");
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch { /* no storage: the system's */ }
})();
