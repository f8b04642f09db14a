// WordPress on PHP in WebAssembly.
import './src/without-undici.js'

await import('./src/wordpress.js')
