import type { Card } from '../../contract/cards.ts'
import { Badge } from '../ui/Badge.tsx'
import { brandName, CardBrand } from './CardBrand.tsx'
import { useCardTexts } from './card-texts.ts'

const monthOf = ({ card }: Card): string =>
  `${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`
/** Whether the card has expired; it is valid to the end of its month. */
const isOver = ({ card }: Card): boolean =>
  new Date(card.exp_year, card.exp_month, 1).getTime() <= Date.now()

export const cardName = ({ card }: Card, ends: (brand: string, last4: string) => string): string =>
  ends(brandName(card.brand), card.last4)

/** Brand, last digits, expiry: a linked card in one line. */
export function CardLine({ card }: { card: Card }) {
  const c = useCardTexts()
  return (
    <span className="flex min-w-0 items-center gap-3">
      <CardBrand brand={card.card.brand} />
      <span className="min-w-0">
        <span className="flex flex-wrap items-center gap-x-2 text-sm font-medium">
          <span className="num">
            {brandName(card.card.brand)} <span aria-hidden>••••</span> {card.card.last4}
          </span>
          {card.default ? <Badge className="h-5">{c.isDefault}</Badge> : null}
        </span>
        <span className={isOver(card) ? 'num text-xs text-danger' : 'num text-xs text-ink-3'}>
          {isOver(card) ? c.expired : c.expires(monthOf(card))}
        </span>
      </span>
    </span>
  )
}
