// The line between the picture and the charts, moved by mouse or arrow keys.
export function dragDivider(divider: HTMLElement, left: HTMLElement) {
  const set = (part: number) => left.style.setProperty("--split", `${Math.max(15, Math.min(85, part))}%`);
  divider.addEventListener("pointerdown", (e) => {
    divider.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => {
      const box = left.getBoundingClientRect();
      set(((m.clientY - box.top) / box.height) * 100);
    };
    divider.addEventListener("pointermove", move);
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", move), { once: true });
  });
  let part = 55;
  divider.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
    part = Math.max(15, Math.min(85, part + (e.key === "ArrowDown" ? 4 : -4)));
    set(part);
    e.preventDefault();
  });
}
