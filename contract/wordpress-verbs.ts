/**
 * The commands of a server's console, in WP-CLI's own words and synopses
 * (https://developer.wordpress.org/cli/commands/). The portal checks commands against them, the
 * screen gives help and completions from them, and nothing else is ever run.
 */
import type { Language } from './errors.ts'

/** `much`: it needs a confirmation, unless it has `--dry-run`. */
export type Changes = 'nothing' | 'something' | 'much'

export interface Verb {
  /** The command as it is typed: `plugin list`. */
  readonly name: string
  /**
   * `<id>` is required, `[<id>]` is optional, `<id>...` may be repeated; `[--all]` is a switch,
   * `[--role=<role>]` has a value, `[--format=<table|json>]` has one of these values.
   */
  readonly synopsis: string
  readonly changes: Changes
  readonly text: Readonly<Record<Language, string>>
}

const formats = '[--format=<table|json|csv|count>]'
const formatsWithIds = '[--format=<table|json|csv|ids|count>]'
const fields = '[--field=<field>] [--fields=<fields>]'
const list = `${fields} ${formats}`
const listWithIds = `${fields} ${formatsWithIds}`
const record = `${fields} [--format=<table|json|csv>]`

const verb = (name: string, synopsis: string, changes: Changes, en: string, vi: string): Verb => ({
  name,
  synopsis,
  changes,
  text: { en, vi },
})

const person =
  '[--user_pass=<password>] [--display_name=<name>] [--first_name=<name>] [--last_name=<name>] ' +
  '[--user_url=<url>] [--role=<role>]'

export const verbs: readonly Verb[] = [
  verb(
    'help',
    '[<command>...]',
    'nothing',
    'What can be typed here, or how one command is written.',
    'Các lệnh dùng được ở đây, hoặc cách viết một lệnh.',
  ),
  verb('core version', '', 'nothing', 'The version of WordPress.', 'Phiên bản WordPress.'),
  verb(
    'core is-installed',
    '',
    'nothing',
    'Whether WordPress is installed.',
    'WordPress đã được cài đặt hay chưa.',
  ),
  verb(
    'plugin list',
    `[--status=<active|inactive|must-use>] ${list}`,
    'nothing',
    'The plugins that are installed.',
    'Các plugin đã cài.',
  ),
  verb(
    'plugin status',
    '[<plugin>]',
    'nothing',
    'Which plugins are active, or details of one.',
    'Plugin nào đang bật, hoặc chi tiết của một plugin.',
  ),
  verb(
    'plugin activate',
    '[<plugin>...] [--all]',
    'something',
    'Switch plugins on.',
    'Bật plugin.',
  ),
  verb(
    'plugin deactivate',
    '[<plugin>...] [--all]',
    'something',
    'Switch plugins off.',
    'Tắt plugin.',
  ),
  verb(
    'plugin toggle',
    '<plugin>...',
    'something',
    'Switch plugins on that are off, and off that are on.',
    'Bật plugin đang tắt, tắt plugin đang bật.',
  ),
  verb(
    'plugin delete',
    '<plugin>...',
    'much',
    'Delete the files of plugins that are off.',
    'Xoá tệp của các plugin đang tắt.',
  ),
  verb(
    'theme list',
    `[--status=<active|inactive|parent>] ${list}`,
    'nothing',
    'The themes that are installed.',
    'Các giao diện đã cài.',
  ),
  verb(
    'theme status',
    '[<theme>]',
    'nothing',
    'Which theme is active, or details of one.',
    'Giao diện nào đang dùng, hoặc chi tiết của một giao diện.',
  ),
  verb('theme activate', '<theme>', 'something', 'Use a theme.', 'Dùng một giao diện.'),
  verb(
    'theme delete',
    '<theme>...',
    'much',
    'Delete the files of themes that are not used.',
    'Xoá tệp của các giao diện không dùng.',
  ),
  verb(
    'user list',
    `[--role=<role>] [--search=<text>] ${listWithIds}`,
    'nothing',
    'The users of the site.',
    'Người dùng của trang web.',
  ),
  verb('user get', `<user> ${record}`, 'nothing', 'One user.', 'Một người dùng.'),
  verb(
    'user create',
    `<login> <email> ${person} [--porcelain]`,
    'something',
    'Add a user; without a password one is made up and shown once.',
    'Thêm người dùng; nếu không đặt mật khẩu thì hệ thống tạo và chỉ hiện một lần.',
  ),
  verb(
    'user update',
    `<user>... [--user_email=<email>] ${person}`,
    'something',
    'Change users.',
    'Sửa người dùng.',
  ),
  verb(
    'user delete',
    '<user>... [--reassign=<user>]',
    'much',
    'Delete users; their posts go to another user, or are deleted with them.',
    'Xoá người dùng; bài viết chuyển cho người khác hoặc bị xoá theo.',
  ),
  verb(
    'user set-role',
    '<user> [<role>]',
    'something',
    'Give a user a role; without one, that of new users.',
    'Đặt vai trò cho người dùng; nếu không ghi thì dùng vai trò của người dùng mới.',
  ),
  verb(
    'user reset-password',
    '<user>... [--skip-email] [--porcelain]',
    'something',
    'Give users new passwords, which are shown once.',
    'Đặt mật khẩu mới cho người dùng, chỉ hiện một lần.',
  ),
  verb(
    'option get',
    '<key> [--format=<var_export|json>]',
    'nothing',
    'The value of an option.',
    'Giá trị của một tuỳ chọn.',
  ),
  verb(
    'option update',
    '<key> <value> [--format=<plaintext|json>] [--autoload=<yes|no>]',
    'something',
    'Set an option.',
    'Đặt giá trị cho một tuỳ chọn.',
  ),
  verb(
    'option list',
    `[--search=<pattern>] [--autoload=<on|off>] ${list}`,
    'nothing',
    'Options; * in a pattern stands for anything.',
    'Các tuỳ chọn; dấu * trong mẫu thay cho mọi ký tự.',
  ),
  verb('option delete', '<key>...', 'much', 'Delete options.', 'Xoá tuỳ chọn.'),
  verb(
    'post list',
    '[--post_type=<type>] [--post_status=<status>] [--posts_per_page=<number>] ' +
      `[--s=<text>] ${listWithIds}`,
    'nothing',
    'Posts, pages and the like, newest first.',
    'Bài viết, trang và các loại nội dung khác, mới nhất trước.',
  ),
  verb('post get', `<id> ${record}`, 'nothing', 'One post.', 'Một bài viết.'),
  verb(
    'post update',
    '<id>... [--post_title=<text>] [--post_content=<text>] [--post_excerpt=<text>] ' +
      '[--post_status=<status>] [--post_name=<name>] [--post_date=<date>] [--post_author=<id>] ' +
      '[--post_type=<type>] [--post_parent=<id>] [--comment_status=<open|closed>]',
    'something',
    'Change posts.',
    'Sửa bài viết.',
  ),
  verb(
    'post delete',
    '<id>... [--force]',
    'much',
    'Move posts to the trash; with --force delete them for good.',
    'Chuyển bài viết vào thùng rác; thêm --force để xoá hẳn.',
  ),
  verb(
    'comment list',
    '[--status=<all|approve|hold|spam|trash>] [--post_id=<id>] [--number=<number>] ' + listWithIds,
    'nothing',
    'Comments, newest first.',
    'Bình luận, mới nhất trước.',
  ),
  verb('comment approve', '<id>...', 'something', 'Show comments.', 'Duyệt bình luận.'),
  verb('comment unapprove', '<id>...', 'something', 'Hide comments.', 'Bỏ duyệt bình luận.'),
  verb(
    'comment spam',
    '<id>...',
    'something',
    'Mark comments as spam.',
    'Đánh dấu bình luận là spam.',
  ),
  verb(
    'comment delete',
    '<id>... [--force]',
    'much',
    'Move comments to the trash; with --force delete them for good.',
    'Chuyển bình luận vào thùng rác; thêm --force để xoá hẳn.',
  ),
  verb('cache flush', '', 'something', 'Empty the object cache.', 'Xoá bộ nhớ đệm đối tượng.'),
  verb(
    'transient list',
    `[--search=<pattern>] ${list}`,
    'nothing',
    'Values that are kept for a while.',
    'Các giá trị lưu tạm (transient).',
  ),
  verb(
    'transient delete',
    '[<key>] [--expired] [--all]',
    'something',
    'Delete values that are kept for a while.',
    'Xoá các giá trị lưu tạm (transient).',
  ),
  verb(
    'cron event list',
    list,
    'nothing',
    'Planned work of WordPress.',
    'Các tác vụ định kỳ của WordPress.',
  ),
  verb(
    'cron event run',
    '[<hook>...] [--due-now] [--all]',
    'something',
    'Run planned work now.',
    'Chạy ngay tác vụ định kỳ.',
  ),
  verb(
    'rewrite flush',
    '[--hard]',
    'something',
    'Make the rules of pretty addresses anew.',
    'Tạo lại quy tắc đường dẫn tĩnh.',
  ),
  verb(
    'rewrite list',
    `[--match=<url>] ${list}`,
    'nothing',
    'The rules of pretty addresses.',
    'Các quy tắc đường dẫn tĩnh.',
  ),
  verb(
    'search-replace',
    '<old> <new> [<table>...] [--dry-run] [--skip-tables=<tables>] ' +
      '[--skip-columns=<columns>] [--include-columns=<columns>] [--precise] ' +
      '[--report-changed-only] [--format=<table|count>]',
    'much',
    'Replace a text in the database, within serialized values too.',
    'Tìm và thay văn bản trong cơ sở dữ liệu, kể cả trong giá trị serialize.',
  ),
  verb(
    'maintenance-mode status',
    '',
    'nothing',
    'Whether visitors are told to come back later.',
    'Chế độ bảo trì có đang bật hay không.',
  ),
  verb(
    'maintenance-mode activate',
    '',
    'something',
    'Tell visitors to come back later.',
    'Bật chế độ bảo trì.',
  ),
  verb(
    'maintenance-mode deactivate',
    '',
    'something',
    'Let visitors in again.',
    'Tắt chế độ bảo trì.',
  ),
  verb(
    'db size',
    '[--tables] [--format=<table|json|csv>]',
    'nothing',
    'How large the database is.',
    'Dung lượng cơ sở dữ liệu.',
  ),
  verb(
    'db tables',
    '[--format=<list|csv>]',
    'nothing',
    'The tables of the database.',
    'Các bảng trong cơ sở dữ liệu.',
  ),
]

/** Parameters that every command accepts as well. */
export const everywhere = '[--skip-plugins] [--skip-themes] [--yes]'

export interface Flag {
  readonly name: string
  /** Undefined: the parameter has no value; empty: any value is accepted. */
  readonly values?: readonly string[]
}
export interface Positional {
  readonly name: string
  readonly isNeeded: boolean
  readonly isMany: boolean
}
export interface Form {
  readonly positionals: readonly Positional[]
  readonly flags: readonly Flag[]
}

const part = /(\[)?(?:--([\w-]+)(?:=<([^>]+)>)?|<([\w-]+)>(\.\.\.)?)\]?/g
const formOf = (synopsis: string): Form => {
  const positionals: Positional[] = []
  const flags: Flag[] = []
  for (const [, open, flag, value, name, many] of synopsis.matchAll(part)) {
    if (flag === undefined)
      positionals.push({
        name: name ?? '',
        isNeeded: open === undefined,
        isMany: many !== undefined,
      })
    else if (value === undefined) flags.push({ name: flag })
    else flags.push({ name: flag, values: value.includes('|') ? value.split('|') : [] })
  }
  return { positionals, flags }
}
/** The parameters of a command, from its synopsis. */
export const formOfVerb = ({ synopsis }: Verb): Form => formOf(`${synopsis} ${everywhere}`)
