/** /hosting shows the same pages with its own texts. */
import type { TextsWith } from '../i18n/index.ts'
import type { Kind } from './queries.ts'

interface Wording {
  listTitle: string
  listSub: string
  create: string
  orderTitle: string
  back: string
  empty: string
  /** The button in the empty list; the page's own keeps its name to itself. */
  first: string
  listTo: '/wordpress' | '/hosting'
  createTo: '/wordpress/create' | '/hosting/create'
}

export function wording(kind: Kind, t: TextsWith<'servers'>): Wording {
  if (kind === 'hosting') return { ...t.hosting, listTo: '/hosting', createTo: '/hosting/create' }
  return {
    listTitle: t.wp.listTitle,
    listSub: t.wp.listSub,
    create: t.wp.create,
    orderTitle: t.order.title,
    back: t.wp.back,
    empty: t.wp.empty,
    first: t.wp.first,
    listTo: '/wordpress',
    createTo: '/wordpress/create',
  }
}
