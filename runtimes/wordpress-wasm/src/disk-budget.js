// Disk sizes without root: growth beyond a budget fails with ENOSPC inside the write path of PHP's file system.
import fs from 'node:fs'
import path from 'node:path'

const ENOSPC = 51
const EPERM = 63
const O_TRUNC = 512
/** More files than this a site may not hold: empty files cost no bytes, yet fill a disk's inode table. */
const maxFiles = 400_000

/** Bytes and files below `dir`, links not followed, `skip` left out. What vanishes meanwhile counts as gone. */
function measureSync(dir, skip) {
  const sum = { bytes: 0, files: 0 }
  let entries
  try {
    entries = fs.readdirSync(dir, { withFileTypes: true })
  } catch {
    return sum
  }
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    sum.files++
    if (entry.isDirectory()) {
      const below = measureSync(full, skip)
      sum.bytes += below.bytes
      sum.files += below.files
    } else if (entry.isFile()) {
      sum.bytes += fs.lstatSync(full, { throwIfNoEntry: false })?.size ?? 0
    }
  }
  return sum
}

async function measure(dir, skip) {
  const sum = { bytes: 0, files: 0 }
  const entries = await fs.promises.readdir(dir, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    sum.files++
    if (entry.isDirectory()) {
      const below = await measure(full, skip)
      sum.bytes += below.bytes
      sum.files += below.files
    } else if (entry.isFile()) {
      sum.bytes += await fs.promises.lstat(full).then(
        (stat) => stat.size,
        () => 0,
      )
    }
  }
  return sum
}

/**
 * Budgets of one site: `ssd` (its folder), `database` (wp-content/database) and `internal` (this container's own scratch folder), in bytes.
 * Every container keeps its own count; counts are put right by measuring again, so containers of one site may together overshoot by what they
 * write within `remeasureSeconds`.
 */
export class DiskBudget {
  constructor({ siteDir, internalDir, limits, report }) {
    this.roots = { ssd: siteDir, database: path.join(siteDir, 'wp-content', 'database'), internal: internalDir }
    this.limits = { ...limits }
    this.report = report
    this.used = { ssd: 0, database: 0, internal: 0 }
    this.files = 0
    this.changed = false
    this.measuredAt = 0
    this.refusedAt = 0
    this.remeasureSync()
    const timer = setInterval(() => {
      if (this.changed || Date.now() - this.measuredAt > 60_000) void this.remeasure()
    }, 15_000)
    timer.unref()
  }

  resize(limits) {
    Object.assign(this.limits, limits)
  }

  remeasureSync() {
    const database = measureSync(this.roots.database)
    const ssd = measureSync(this.roots.ssd, this.roots.database)
    this.take(ssd, database, measureSync(this.roots.internal), { ssd: 0, database: 0, internal: 0 })
  }

  async remeasure() {
    if (this.measuring) return
    this.measuring = true
    const before = { ...this.used }
    const database = await measure(this.roots.database)
    const ssd = await measure(this.roots.ssd, this.roots.database)
    const internal = await measure(this.roots.internal)
    const grown = Object.fromEntries(Object.keys(before).map((kind) => [kind, Math.max(0, this.used[kind] - before[kind])]))
    this.take(ssd, database, internal, grown)
    this.measuring = false
  }

  take(ssd, database, internal, grown) {
    this.used = { ssd: ssd.bytes + grown.ssd, database: database.bytes + grown.database, internal: internal.bytes + grown.internal }
    this.files = ssd.files + database.files + internal.files
    this.changed = false
    this.measuredAt = Date.now()
  }

  kindOf(real) {
    const below = (root) => real === root || real.startsWith(root + path.sep)
    if (below(this.roots.database)) return 'database'
    if (below(this.roots.ssd)) return 'ssd'
    return below(this.roots.internal) ? 'internal' : null
  }

  /** Whether `bytes` more fit; counts them when they do. */
  grow(kind, bytes) {
    if (kind === null) return true
    if (bytes <= 0) {
      this.used[kind] = Math.max(0, this.used[kind] + bytes)
      return true
    }
    this.changed = true
    if (this.used[kind] + bytes > this.limits[kind]) {
      // Another container may have made room: look before refusing, but not at every one of a thousand writes.
      if (Date.now() - this.measuredAt > 2_000) this.remeasureSync()
      if (this.used[kind] + bytes > this.limits[kind]) {
        if (Date.now() - this.refusedAt > 1_000) {
          this.refusedAt = Date.now()
          this.report({ kind, used: this.used[kind], limit: this.limits[kind] })
        }
        return false
      }
    }
    this.used[kind] += bytes
    return true
  }

  /** Wraps the file system of one PHP runtime (each rotation makes a new one). */
  install({ FS, NODEFS }) {
    const { node_ops: node, stream_ops: stream } = NODEFS
    const full = () => new FS.ErrnoError(ENOSPC)
    const sizeOf = (real) => fs.lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
    const childOf = (parent, name) => path.join(NODEFS.realPath(parent), name)

    const write = stream.write
    stream.write = (file, buffer, offset, length, position) => {
      const kind = this.kindOf(NODEFS.realPath(file.node))
      if (kind !== null && length > 0) {
        let size = 0
        try {
          size = fs.fstatSync(file.nfd).size
        } catch {
          // A closed descriptor: the write below answers for itself.
        }
        const start = file.flags & 1024 ? size : (position ?? file.position)
        const growth = Math.max(0, start + length - size)
        if (growth > 0 && !this.grow(kind, growth)) throw full()
      }
      return write(file, buffer, offset, length, position)
    }

    const open = stream.open
    stream.open = (file) => {
      if (file.flags & O_TRUNC) {
        const real = NODEFS.realPath(file.node)
        this.grow(this.kindOf(real), -sizeOf(real))
      }
      return open(file)
    }

    const resized = (original, realOf, size) => (target, attributes) => {
      if (attributes.size !== undefined) {
        const kind = this.kindOf(realOf(target))
        if (!this.grow(kind, attributes.size - size(target))) throw full()
      }
      return original(target, attributes)
    }
    node.setattr = resized(
      node.setattr,
      (target) => NODEFS.realPath(target),
      (target) => sizeOf(NODEFS.realPath(target)),
    )
    stream.setattr = resized(
      stream.setattr,
      (target) => NODEFS.realPath(target.node),
      (target) => fs.fstatSync(target.nfd).size,
    )

    const mknod = node.mknod
    node.mknod = (parent, name, mode, device) => {
      if (this.files >= maxFiles) throw full()
      this.files++
      return mknod(parent, name, mode, device)
    }

    const unlink = node.unlink
    node.unlink = (parent, name) => {
      const real = childOf(parent, name)
      const size = sizeOf(real)
      const result = unlink(parent, name)
      this.grow(this.kindOf(real), -size)
      this.files--
      return result
    }

    const rename = node.rename
    node.rename = (moved, parent, name) => {
      const from = NODEFS.realPath(moved)
      const to = childOf(parent, name)
      const [source, target] = [this.kindOf(from), this.kindOf(to)]
      if (source !== target && source !== null && target !== null) {
        const stat = fs.lstatSync(from)
        const size = stat.isDirectory() ? measureSync(from).bytes : stat.size
        if (!this.grow(target, size)) throw full()
        this.grow(source, -size)
      }
      return rename(moved, parent, name)
    }

    // A link made by one container is followed by the host when another container still has the name cached as a file: out of the site's folder.
    node.symlink = () => {
      throw new FS.ErrnoError(EPERM)
    }
  }
}
