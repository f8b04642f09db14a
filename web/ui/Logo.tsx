/** The operator's logo, which the server writes into the page. */
const picture = document.querySelector<HTMLMetaElement>('meta[name="brand-logo"]')?.content

export function Logo({ className = 'size-7' }: { className?: string }) {
  if (picture !== undefined)
    return <img src={picture} alt="" className={`shrink-0 object-contain ${className}`} />
  return (
    <svg viewBox="0 0 32 32" className={`shrink-0 ${className}`} aria-hidden>
      <rect width="32" height="32" rx="9" fill="var(--primary)" />
      <path
        d="M10 8v16h12"
        fill="none"
        stroke="#fff"
        strokeWidth="4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="21" cy="11" r="3" fill="#fff" />
    </svg>
  )
}
