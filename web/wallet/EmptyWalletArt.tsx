/** An open wallet with nothing in it yet. */
export default function EmptyWalletArt() {
  return (
    <svg width="168" height="112" viewBox="0 0 168 112" fill="none" aria-hidden>
      <ellipse cx="84" cy="102" rx="62" ry="6" fill="var(--subtle)" />
      <rect
        x="34"
        y="30"
        width="100"
        height="66"
        rx="12"
        fill="var(--surface)"
        stroke="var(--border)"
        strokeWidth="2"
      />
      <path
        d="M34 44a14 14 0 0 1 14-14h62l-8-12a6 6 0 0 0-7.6-2.2L43 36"
        fill="var(--primary-soft)"
        stroke="var(--border)"
        strokeWidth="2"
        strokeLinejoin="round"
      />
      <path
        d="M112 54h22v18h-22a9 9 0 0 1 0-18Z"
        fill="var(--primary-soft)"
        stroke="var(--primary)"
        strokeWidth="2"
      />
      <circle cx="114" cy="63" r="3" fill="var(--primary)" />
      <path
        d="M50 56h34M50 68h22M50 80h28"
        stroke="var(--border)"
        strokeWidth="4"
        strokeLinecap="round"
      />
      <path
        d="M20 22v8M16 26h8M150 20v6M147 23h6M146 88v6M143 91h6"
        stroke="var(--control)"
        strokeWidth="2"
        strokeLinecap="round"
        opacity=".6"
      />
    </svg>
  )
}
