// PHP in a process of its own, which main.js starts.
import './src/without-undici.js'

await import('./src/php-worker.js')
