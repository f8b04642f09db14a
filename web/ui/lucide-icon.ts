/**
 * Replaces lucide's own `createLucideIcon` in the build (vite.config.ts). That one also reads
 * contexts, names classes and scales strokes, which no screen needs and every screen would load.
 */
import { createElement, type FunctionComponent, type SVGProps } from 'react'

interface IconData {
  readonly node: readonly (readonly [tag: string, attributes: Record<string, string>])[]
}

/** Renders one of lucide's icons. It stands beside words or a label, so screen readers skip it. */
export default function createLucideIcon({
  node,
}: IconData): FunctionComponent<SVGProps<SVGSVGElement>> {
  return (props) =>
    createElement(
      'svg',
      {
        width: 24,
        height: 24,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        strokeWidth: 2,
        strokeLinecap: 'round',
        strokeLinejoin: 'round',
        'aria-hidden': true,
        ...props,
      },
      node.map(([tag, attributes]) => createElement(tag, attributes)),
    )
}
