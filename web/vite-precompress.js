/**
 * Minifies the one script that is copied, and writes .br and .gz beside each built text file, which
 * the server sends unchanged. Fonts are already compressed.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { minify } from 'vite'

const worthIt = /\.(js|css|svg)$/
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** @param {string} file */
async function compress(file) {
  const plain = await readFile(file)
  const [br, gz] = await Promise.all([
    brotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
    zip(plain, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)])
}

/** @returns {import('vite').Plugin} */
export function precompress() {
  let folder = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved({ root, build }) {
      folder = path.resolve(root, build.outDir)
    },
    // Runs last, when the public files are in the folder too.
    async closeBundle() {
      // A public file is copied as it was written, with its comments.
      const early = path.join(folder, 'theme.js')
      const { code } = await minify('theme.js', await readFile(early, 'utf8'), { module: false })
      await writeFile(early, code)
      const files = await readdir(folder, { recursive: true })
      await Promise.all(
        files.filter((file) => worthIt.test(file)).map((file) => compress(path.join(folder, file))),
      )
    },
  }
}
