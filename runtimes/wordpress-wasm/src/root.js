/** Where PHP sees the site's folder. */
export const wordpressRoot = '/wordpress'
