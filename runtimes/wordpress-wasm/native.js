// WordPress on PHP-FPM in a container of an engine, which the portal starts beside this process.
import './src/without-undici.js'

await import('./src/native.js')
