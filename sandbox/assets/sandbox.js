/* Two conveniences; every page works without them. */
const count = document.querySelector('[data-until]')
if (count) {
  const until = Number(count.dataset.until)
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000))
    const minutes = String(Math.floor(left / 60)).padStart(2, '0')
    count.textContent = `${minutes}:${String(left % 60).padStart(2, '0')}`
    if (left > 0) setTimeout(tick, 1000 - (Date.now() % 1000))
    else location.reload()
  }
  if (until > Date.now()) tick()
}

const seconds = Number(document.body.dataset.refresh)
if (seconds > 0) {
  setInterval(async () => {
    if (document.hidden) return
    try {
      const answer = await fetch(location.href)
      if (!answer.ok) return
      const fresh = new DOMParser()
        .parseFromString(await answer.text(), 'text/html')
        .querySelector('[data-fresh]')
      const old = document.querySelector('[data-fresh]')
      if (fresh && old && fresh.innerHTML !== old.innerHTML) old.replaceWith(fresh)
    } catch {
      /* The next round tries again. */
    }
  }, seconds * 1000)
}

for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', () => {
    // After this event, because otherwise the pressed button's own value would not be sent.
    setTimeout(() => form.querySelectorAll('button').forEach((button) => (button.disabled = true)))
  })
}
addEventListener('pageshow', () =>
  document.querySelectorAll('button:disabled').forEach((button) => (button.disabled = false)),
)
