// Enforces disk sizes without root: growth beyond a budget fails with ENOSPC inside the write path
// of PHP's file system.
import fs from 'node:fs'
import path from 'node:path'
import { DiskLease, sharedKinds } from './disk-lease.js'
import { deepestSync, measure, measureSync } from './disk-measure.js'

/** How often a site's folders are measured again where nothing was refused, ms. */
const defaultMeasureMs = 60_000
const ENOSPC = 51
const EPERM = 63
const EACCES = 2
const ENAMETOOLONG = 37
const O_TRUNC = 512
/** Most files of a site: empty files use no bytes, but fill a disk's inode table. */
const maxFiles = 400_000

/**
 * Longest path that a site may have on the host, bytes. Above PATH_MAX (4096) a file could not be
 * opened, measured, backed up or removed by its path. Names that the portal gives to renamed
 * folders are longer by less than a hundred bytes.
 */
const maxPathBytes = 1_024
/** Modes that keep every file readable for the owner, which is the runtime and the portal. */
const ownersFile = 0o600
const ownersFolder = 0o700

/**
 * Budgets of one site, in bytes: `ssd` (its folder), `database` (wp-content/database) and
 * `internal` (this container's own scratch folder). Writes to the first two are counted once for
 * all processes of the site (disk-lease.js), and corrected by measuring. Writes by others than PHP
 * (SFTP, a restored backup) are noticed by the next measurement.
 */
export class DiskBudget {
  /**
   * `bodiesDir`: left out of `internal`, because it has a budget of its own. `countDir`: where
   * processes of the site count together; without it this process counts alone.
   */
  constructor({
    siteDir,
    internalDir,
    bodiesDir,
    countDir = null,
    limits,
    measureMs = defaultMeasureMs,
    report,
  }) {
    this.roots = {
      ssd: siteDir,
      database: path.join(siteDir, 'wp-content', 'database'),
      internal: internalDir,
    }
    this.bodiesDir = bodiesDir
    this.limits = { ...limits }
    this.report = report
    /**
     * Called for each change: the kind of disk, the file, and whether a database may have
     * committed.
     */
    this.onChange = (_kind, _file, _isCommit) => {}
    /** Bytes of the last measurement; for `internal`, including what was added since. */
    this.measured = { ssd: 0, database: 0, internal: 0 }
    this.lease = new DiskLease(countDir)
    this.files = 0
    /** Descriptors that PHP has open, each with its kind of disk. */
    this.opened = new Map()
    this.changed = false
    this.measuredAt = 0
    this.refusedAt = 0
    this.remeasureSync()
    const timer = setInterval(() => {
      this.lease.keepAlive()
      if (this.changed || Date.now() - this.measuredAt > measureMs) void this.remeasure()
    }, measureMs / 4)
    timer.unref()
  }

  /** Bytes in use on a disk, as far as this process knows. */
  usedOf(kind) {
    const grown = sharedKinds.includes(kind) ? this.lease.grown(kind) : 0
    return Math.max(0, this.measured[kind] + grown)
  }

  /** Bytes in use on the site's disks, by this container's count. */
  get told() {
    return { ssd: this.usedOf('ssd'), database: this.usedOf('database') }
  }

  resize(limits) {
    Object.assign(this.limits, limits)
  }

  remeasureSync() {
    const before = this.lease.beginMeasuring()
    const database = measureSync(this.roots.database)
    const ssd = measureSync(this.roots.ssd, this.roots.database)
    const internal = measureSync(this.roots.internal, this.bodiesDir)
    this.take({ ssd, database, internal }, before, 0)
  }

  async remeasure() {
    if (this.measuring) return
    this.measuring = true
    const before = this.lease.beginMeasuring()
    const internalBefore = this.measured.internal
    const database = await measure(this.roots.database)
    const ssd = await measure(this.roots.ssd, this.roots.database)
    const internal = await measure(this.roots.internal, this.bodiesDir)
    const grown = Math.max(0, this.measured.internal - internalBefore)
    this.take({ ssd, database, internal }, before, grown)
    this.measuring = false
  }

  /**
   * Takes a measurement. `before`: what the lease knew before it; `grown`: the growth of `internal`
   * meanwhile.
   */
  take(found, before, grown) {
    const held = this.unlinkedBytes()
    const counted = Object.fromEntries(Object.keys(found).map((kind) => [kind, this.usedOf(kind)]))
    this.lease.measured(before)
    for (const kind of Object.keys(found)) {
      const bytes = found[kind].bytes + held[kind] + (kind === 'internal' ? grown : 0)
      // A folder that cannot be read may hold anything, so the count is not lowered.
      this.measured[kind] = found[kind].whole ? bytes : Math.max(bytes, counted[kind])
    }
    this.files = found.ssd.files + found.database.files + found.internal.files
    this.changed = false
    this.measuredAt = Date.now()
  }

  /** Bytes of deleted files that are freed only when PHP closes them. */
  unlinkedBytes() {
    const held = { ssd: 0, database: 0, internal: 0 }
    for (const [descriptor, kind] of this.opened) {
      const { nlink, size } = fs.fstatSync(descriptor)
      if (nlink === 0) held[kind] += size
    }
    return held
  }

  /** Whether PHP has the file open: its bytes are freed only when it is closed. */
  isOpen({ dev, ino }) {
    for (const descriptor of this.opened.keys()) {
      const stat = fs.fstatSync(descriptor)
      if (stat.ino === ino && stat.dev === dev) return true
    }
    return false
  }

  kindOf(real) {
    const below = (root) => real === root || real.startsWith(root + path.sep)
    if (below(this.roots.database)) return 'database'
    if (below(this.roots.ssd)) return 'ssd'
    return below(this.roots.internal) ? 'internal' : null
  }

  /** Whether `bytes` more fit; if so, they are counted. */
  grow(kind, bytes) {
    if (kind === null) return true
    if (bytes <= 0) {
      if (sharedKinds.includes(kind)) this.lease.freed(kind, -bytes)
      else this.measured[kind] = Math.max(0, this.measured[kind] + bytes)
      return true
    }
    this.changed = true
    if (this.#fits(kind, bytes)) return true
    // Another container may have freed space, so the disk is measured before a refusal, but at most
    // every two seconds.
    if (Date.now() - this.measuredAt > 2_000) {
      this.remeasureSync()
      if (this.#fits(kind, bytes)) return true
    }
    if (Date.now() - this.refusedAt > 1_000) {
      this.refusedAt = Date.now()
      this.report({ kind, used: this.usedOf(kind), limit: this.limits[kind] })
    }
    return false
  }

  #fits(kind, bytes) {
    const most = this.limits[kind] - this.measured[kind]
    if (sharedKinds.includes(kind)) return this.lease.take(kind, bytes, most)
    if (bytes > most) return false
    this.measured[kind] += bytes
    return true
  }

  /**
   * Called before a file is removed, truncated or replaced, so that a concurrent measurement knows
   * of it.
   */
  freeing(kind, bytes) {
    if (sharedKinds.includes(kind) && bytes > 0) this.lease.freeing(kind, bytes)
  }

  /** Called after a request: its unused reservation is released to the other processes. */
  settle() {
    this.lease.settle()
  }

  /** Wraps the file system of one PHP runtime (each rotation makes a new one). */
  install({ FS, NODEFS }) {
    const { node_ops: node, stream_ops: stream } = NODEFS
    const full = () => new FS.ErrnoError(ENOSPC)
    const tooLong = () => new FS.ErrnoError(ENAMETOOLONG)
    const sizeOf = (real) => fs.lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
    const childOf = (parent, name) => path.join(NODEFS.realPath(parent), name)

    const write = stream.write
    stream.write = (file, buffer, offset, length, position) => {
      const real = NODEFS.realPath(file.node)
      const kind = this.kindOf(real)
      if (kind !== null && length > 0) {
        // SQLite writes a database's first page in every transaction, so a write there may be a
        // commit.
        this.onChange(kind, real, (position ?? file.position) === 0)
        let size = 0
        try {
          size = fs.fstatSync(file.nfd).size
        } catch {
          // The descriptor is closed; the write below reports that itself.
        }
        const start = file.flags & 1024 ? size : (position ?? file.position)
        const growth = Math.max(0, start + length - size)
        if (growth > 0 && !this.grow(kind, growth)) throw full()
      }
      return write(file, buffer, offset, length, position)
    }

    const open = stream.open
    stream.open = (file) => {
      const real = NODEFS.realPath(file.node)
      const kind = this.kindOf(real)
      if (file.flags & O_TRUNC) {
        this.grow(kind, -sizeOf(real))
        this.onChange(kind, real, false)
      }
      const result = open(file)
      if (kind !== null && FS.isFile(file.node.mode)) this.opened.set(file.nfd, kind)
      return result
    }

    const close = stream.close
    stream.close = (file) => {
      const kind = file.shared.refcount === 1 ? this.opened.get(file.nfd) : undefined
      if (kind !== undefined) {
        this.opened.delete(file.nfd)
        const stat = fs.fstatSync(file.nfd)
        if (stat.nlink === 0 && !this.isOpen(stat)) this.grow(kind, -stat.size)
      }
      return close(file)
    }

    const resized = (original, realOf, size) => (target, attributes) => {
      if (attributes.mode !== undefined) {
        const folder = FS.isDir((target.node ?? target).mode)
        attributes = { ...attributes, mode: attributes.mode | (folder ? ownersFolder : ownersFile) }
      }
      if (attributes.size !== undefined) {
        const kind = this.kindOf(realOf(target))
        this.onChange(kind, realOf(target), false)
        if (!this.grow(kind, attributes.size - size(target))) throw full()
      }
      return original(target, attributes)
    }
    node.setattr = resized(
      node.setattr,
      (target) => NODEFS.realPath(target),
      (target) => sizeOf(NODEFS.realPath(target)),
    )
    const resizeOpen = resized(
      stream.setattr,
      (target) => NODEFS.realPath(target.node),
      (target) => fs.fstatSync(target.nfd).size,
    )
    // Sets modes and times by name: Node's permission model allows neither by descriptor.
    stream.setattr = (file, { size, ...named }) => {
      if (Object.keys(named).length > 0) node.setattr(file.node, named)
      if (size !== undefined) resizeOpen(file, { size })
    }

    const mknod = node.mknod
    node.mknod = (parent, name, mode, device) => {
      if (this.files >= maxFiles) throw full()
      if (Buffer.byteLength(childOf(parent, name)) > maxPathBytes) throw tooLong()
      this.files++
      this.onChange(this.kindOf(childOf(parent, name)), childOf(parent, name), false)
      return mknod(parent, name, mode | (FS.isDir(mode) ? ownersFolder : ownersFile), device)
    }

    /** Subtracts a deleted file. A file that PHP still has open keeps using its bytes. */
    const countOut = (real, stat) => {
      if (!stat) return
      if (stat.isFile() && !(stat.nlink === 1 && this.isOpen(stat)))
        this.grow(this.kindOf(real), -stat.size)
      this.files--
    }

    const unlink = node.unlink
    node.unlink = (parent, name) => {
      const real = childOf(parent, name)
      const stat = fs.lstatSync(real, { throwIfNoEntry: false })
      if (stat?.isFile()) this.freeing(this.kindOf(real), stat.size)
      const result = unlink(parent, name)
      this.onChange(this.kindOf(real), real, false)
      countOut(real, stat)
      return result
    }

    const rename = node.rename
    node.rename = (moved, parent, name) => {
      const from = NODEFS.realPath(moved)
      const to = childOf(parent, name)
      const stat = fs.lstatSync(from, { throwIfNoEntry: false })
      let deepest = Buffer.byteLength(from)
      try {
        if (stat?.isDirectory()) deepest = deepestSync(from)
      } catch {
        throw new FS.ErrnoError(EACCES)
      }
      const grown = Buffer.byteLength(to) - Buffer.byteLength(from)
      if (deepest + grown > maxPathBytes) throw tooLong()
      const [source, target] = [this.kindOf(from), this.kindOf(to)]
      if (stat && source !== target && source !== null && target !== null) {
        const size = stat.isDirectory() ? measureSync(from).bytes : stat.size
        if (!this.grow(target, size)) throw full()
        this.grow(source, -size)
      }
      const replaced = from === to ? undefined : fs.lstatSync(to, { throwIfNoEntry: false })
      if (replaced?.isFile()) this.freeing(target, replaced.size)
      const result = rename(moved, parent, name)
      this.onChange(source, from, false)
      this.onChange(target, to, false)
      if (replaced?.isFile()) countOut(to, replaced)
      return result
    }

    // disk_free_space() and disk_total_space(): the plan's disk, not the machine's.
    const statfs = node.statfs
    node.statfs = (root) => {
      const stats = statfs(root)
      const kind = this.kindOf(root)
      if (kind === null) return stats
      const blocks = (bytes) => Math.max(0, Math.floor(bytes / stats.bsize))
      if (sharedKinds.includes(kind)) this.lease.listen()
      const free = blocks(this.limits[kind] - this.usedOf(kind))
      return {
        ...stats,
        type: stats.type,
        bsize: stats.bsize,
        frsize: stats.bsize,
        blocks: blocks(this.limits[kind]),
        bfree: free,
        bavail: free,
        files: maxFiles,
        ffree: Math.max(0, maxFiles - this.files),
      }
    }

    // Symbolic links are refused. If one container made a link while another still has the name
    // cached as a file, the host would follow it out of the site's folder.
    node.symlink = () => {
      throw new FS.ErrnoError(EPERM)
    }
  }
}
