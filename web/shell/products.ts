/**
 * The portal's products and their state: the one table to change when a product is built. `flag` is
 * the operator's switch in GET /api/config. A product that is off or not built keeps its place in
 * the sidebar, marked as coming soon.
 */
import {
  Boxes,
  Database,
  Globe,
  MonitorCog,
  PanelsTopLeft,
  Server,
  ShieldHalf,
  type LucideIcon,
} from 'lucide-react'
import type { Config } from '../../contract/system.ts'

type Flag = keyof Config['products']

export interface Product {
  key: 'wordpress' | 'hosting' | 'database' | 'firewall' | 'dns' | 'paas' | 'svm'
  icon: LucideIcon
  /** Its address, once built. */
  to?: '/wordpress' | '/hosting' | '/dns' | '/paas'
  flag?: Flag
}

export const products: readonly Product[] = [
  { key: 'wordpress', icon: PanelsTopLeft, to: '/wordpress', flag: 'wordpress' },
  { key: 'hosting', icon: Server, to: '/hosting', flag: 'hosting' },
  { key: 'database', icon: Database, flag: 'cloudDatabase' },
  { key: 'firewall', icon: ShieldHalf },
  { key: 'dns', icon: Globe, to: '/dns', flag: 'dns' },
  { key: 'paas', icon: Boxes, to: '/paas', flag: 'paas' },
  { key: 'svm', icon: MonitorCog, flag: 'svm' },
]

export const isOpen = (product: Product, flags: Config['products'] | undefined): boolean =>
  product.to !== undefined &&
  (product.flag === undefined || flags === undefined || flags[product.flag])

/** Addresses of the specification that have no screen yet. */
export const unbuiltRoutes: readonly { path: string; product: string }[] = [
  { path: '/database', product: 'database' },
  { path: '/firewall', product: 'firewall' },
  { path: '/svm', product: 'svm' },
]
