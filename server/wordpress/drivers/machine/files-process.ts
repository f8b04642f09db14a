// Carries out an owner's acts on a site's files, in a process of its own: as the site's user and
// confined to its folder (confinement.ts). It ends after a while without an act.
import type { FileOrder } from '../../driver.ts'
import { actInTree } from './tree.ts'

const idleMs = 30_000
const [, , root = ''] = process.argv
let timer: NodeJS.Timeout | undefined
const wait = (): void => {
  clearTimeout(timer)
  timer = setTimeout(() => process.exit(0), idleMs)
}
let turn: Promise<unknown> = Promise.resolve()

process.once('disconnect', () => process.exit(0))
process.on('message', ({ id, order }: { id: number; order: FileOrder }) => {
  wait()
  // One after the other, so that two pieces of one upload do not overtake each other.
  turn = turn.then(() =>
    actInTree(root, order).then(
      (answer) => process.send?.({ id, answer }),
      (error: unknown) => process.send?.({ id, error: String(error) }),
    ),
  )
})
wait()
