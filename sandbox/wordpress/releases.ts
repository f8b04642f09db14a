/**
 * The directory's releases: a plugin and a theme of a few lines, real PHP that WordPress runs, some
 * of them with a fault; and WordPress itself under another version number.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { zipOf, type ZipFile } from './zip.ts'

export type Kind = 'core' | 'plugin' | 'theme'

export interface SandboxRelease {
  readonly kind: Kind
  readonly slug: string
  readonly version: string
  /** A description for the page. */
  readonly about: string
  /** Sites must install it automatically. */
  readonly security?: true
  /** A PHP version that no site here has. */
  readonly requiresPhp?: string
  readonly files: () => readonly ZipFile[]
}

export const pluginSlug = 'gio-mo-cua'
export const pluginMain = `${pluginSlug}/${pluginSlug}.php`
export const themeSlug = 'mua-thu'

const plugin = (version: string, code: string): readonly ZipFile[] => [
  {
    name: pluginMain,
    content: `<?php
/*
Plugin Name: Giờ mở cửa
Description: Shows when the shop is open.
Version: ${version}
Author: Sandbox
License: GPL-2.0-or-later
*/
${code}
`,
  },
  { name: `${pluginSlug}/readme.txt`, content: `=== Giờ mở cửa ===\nStable tag: ${version}\n` },
]
const goodPlugin = (version: string) => () =>
  plugin(
    version,
    `add_shortcode( 'gio_mo_cua', fn() => 'Mở cửa từ 8 giờ đến 21 giờ' );
add_action( 'wp_head', fn() => print( '<meta name="gio-mo-cua" content="${version}">' ) );`,
  )
const theme = (version: string, code: string): readonly ZipFile[] => [
  {
    name: `${themeSlug}/style.css`,
    content: `/*
Theme Name: Mùa thu
Author: Sandbox
Version: ${version}
License: GPL-2.0-or-later
*/
body { font-family: Georgia, serif; }
`,
  },
  {
    name: `${themeSlug}/index.php`,
    content: `<?php get_header(); ?>
<main><?php while ( have_posts() ) { the_post(); the_title( '<h2>', '</h2>' ); the_content(); } ?>
</main><?php get_footer();
`,
  },
  {
    name: `${themeSlug}/header.php`,
    content: `<!DOCTYPE html><html <?php language_attributes(); ?>><head><?php wp_head(); ?></head>
<body <?php body_class(); ?>><?php wp_body_open(); ?><h1><?php bloginfo( 'name' ); ?></h1>
`,
  },
  { name: `${themeSlug}/footer.php`, content: '<?php wp_footer(); ?></body></html>\n' },
  { name: `${themeSlug}/functions.php`, content: `<?php\n${code}\n` },
]
const fails = "throw new Error( 'A release of the sandbox with a fault.' );"
const hides = "add_filter( 'render_block', '__return_empty_string' );"
const supports = "add_theme_support( 'title-tag' );"

/** The sandbox's releases, except WordPress itself. */
export const releases: readonly SandboxRelease[] = [
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.0.0',
    about: 'the first one · <span lang="vi">bản đầu tiên</span>',
    files: goodPlugin('1.0.0'),
  },
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.0.1',
    about: 'good · <span lang="vi">bản tốt</span>',
    files: goodPlugin('1.0.1'),
  },
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.0.2',
    about: 'security · <span lang="vi">bản vá bảo mật</span>',
    security: true,
    files: goodPlugin('1.0.2'),
  },
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.1.0',
    about: 'bad: PHP fails · <span lang="vi">bản lỗi: PHP dừng</span>',
    security: true,
    files: () => plugin('1.1.0', fails),
  },
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.2.0',
    about: 'bad: pages are empty · <span lang="vi">bản lỗi: trang trống</span>',
    files: () => plugin('1.2.0', hides),
  },
  {
    kind: 'plugin',
    slug: pluginSlug,
    version: '1.3.0',
    about: 'needs PHP 9 · <span lang="vi">cần PHP 9</span>',
    requiresPhp: '9.0',
    files: goodPlugin('1.3.0'),
  },
  {
    kind: 'theme',
    slug: themeSlug,
    version: '1.0',
    about: 'the first one · <span lang="vi">bản đầu tiên</span>',
    files: () => theme('1.0', supports),
  },
  {
    kind: 'theme',
    slug: themeSlug,
    version: '1.1',
    about: 'good · <span lang="vi">bản tốt</span>',
    files: () => theme('1.1', supports),
  },
  {
    kind: 'theme',
    slug: themeSlug,
    version: '1.2',
    about: 'bad: PHP fails · <span lang="vi">bản lỗi: PHP dừng</span>',
    files: () => theme('1.2', fails),
  },
]

/**
 * All files below a folder, with slashes; wp-content and wp-config.php, which belong to each site,
 * are left out.
 */
function filesBelow(folder: string, below = ''): string[] {
  return readdirSync(path.join(folder, below)).flatMap((name) => {
    const place = below === '' ? name : `${below}/${name}`
    if (place === 'wp-content' || place === 'wp-config.php') return []
    return statSync(path.join(folder, place)).isDirectory() ? filesBelow(folder, place) : [place]
  })
}

/** WordPress's own files, under another version number. */
export function coreZip(folder: string, version: string): Buffer {
  const files = filesBelow(folder).map((place) => {
    const content = readFileSync(path.join(folder, place))
    const isVersion = place === 'wp-includes/version.php'
    return {
      name: `wordpress/${place}`,
      content: isVersion
        ? content.toString('utf8').replace(/\$wp_version = '[^']+'/, `$wp_version = '${version}'`)
        : content,
    }
  })
  // Compressed quickly, because it is downloaded once.
  return zipOf(files, 1)
}

/** The version of the files, and the next one of its branch. */
export function coreVersions(folder: string): { readonly is: string; readonly next: string } {
  const source = readFileSync(path.join(folder, 'wp-includes', 'version.php'), 'utf8')
  const is = /\$wp_version = '([^']+)'/.exec(source)?.[1] ?? '0.0'
  const [major = '0', minor = '0', patch = '0'] = is.split('.')
  return { is, next: `${major}.${minor}.${Number(patch) + 1}` }
}
