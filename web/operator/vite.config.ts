/**
 * Builds the operator's desk to dist/web/operator, in a build of its own, so that customers load
 * the same with or without it (decision 93). Runs after the build of web/, which empties dist/web.
 */
import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { precompress } from '../vite-precompress.js'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  base: '/operator/',
  plugins: [react(), tailwind(), precompress()],
  build: {
    outDir: resolve(here, '../../dist/web/operator'),
    emptyOutDir: true,
    cssCodeSplit: false,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { treeshake: { manualPureFunctions: ['endpoint', 'line', 'z'] } },
  },
})
