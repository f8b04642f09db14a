// The parts of an archive that help to take the site to another host.
import fs from 'node:fs'
import { mysqlDump, tablesLeftOut } from './mysql-dump.ts'
import { UnfitDatabase, withDatabase } from './snapshot.ts'

/**
 * Writes the database as SQL into `target`. False where that is impossible: a customer's database
 * may hold what only SQLite knows, and is backed up all the same.
 */
export function writeMysqlDump(database: string, target: string): boolean {
  const descriptor = fs.openSync(target, 'w', 0o600)
  try {
    return withDatabase(database, (opened) => {
      let written = 0
      for (const piece of mysqlDump(opened)) written += fs.writeSync(descriptor, piece)
      return written > 0
    })
  } catch {
    return false
  } finally {
    fs.closeSync(descriptor)
  }
}

/**
 * Writes the database as SQL into `target`, with nothing left out.
 * @throws UnfitDatabase where it holds what MySQL cannot store
 */
export function writeWholeMysqlDump(database: string, target: string): void {
  const missing = withDatabase(database, tablesLeftOut)
  if (missing.length > 0)
    throw new UnfitDatabase(
      `the database has tables that only SQLite knows: ${missing.slice(0, 5).join(', ')}`,
    )
  if (!writeMysqlDump(database, target))
    throw new UnfitDatabase('the database holds what cannot be said in SQL of MySQL')
}

/** The text of README.txt. */
export const takeawayNotes = ({
  hasDump,
  hasSqlite,
}: {
  readonly hasDump: boolean
  readonly hasSqlite: boolean
}): string => `A backup of a WordPress site
===========================

wordpress/                  the files of the site
database.sql                ${
  hasDump
    ? 'the database for MySQL 5.7, MariaDB 10.4 or newer'
    : 'could not be made from this database'
}${hasSqlite ? '\ndatabase/wordpress.sqlite   the same database as SQLite' : ''}
manifest.json               what was counted when this backup was made

To run it on another host with PHP and MySQL or MariaDB:

1. Put the content of wordpress/ into the folder of the web server.
2. Create a database and load it:  mysql --default-character-set=utf8mb4 NAME < database.sql
3. Write the database's name, user, password and host into wp-config.php (DB_NAME, DB_USER,
   DB_PASSWORD, DB_HOST).
4. When the address of the site changes, replace the old one in the database:
   wp search-replace https://old.example https://new.example --skip-columns=guid

To run it on this portal again, or on another portal of the same kind, upload this archive in the
tab "Move in" of a server there.

To look at it on a computer with Node alone:  npm run portal -- open-archive FILE
(in the portal's own folder).

Tiếng Việt
----------

Để chạy trang trên một máy chủ khác có PHP và MySQL hoặc MariaDB:

1. Chép nội dung thư mục wordpress/ vào thư mục của máy chủ web.
2. Tạo cơ sở dữ liệu rồi nạp:  mysql --default-character-set=utf8mb4 TÊN < database.sql
3. Ghi tên cơ sở dữ liệu, người dùng, mật khẩu và máy chủ vào wp-config.php (DB_NAME, DB_USER,
   DB_PASSWORD, DB_HOST).
4. Nếu địa chỉ trang thay đổi, hãy thay địa chỉ cũ trong cơ sở dữ liệu:
   wp search-replace https://old.example https://new.example --skip-columns=guid

Để chạy lại trên trang quản lý này hoặc một trang quản lý cùng loại, hãy tải tệp này lên ở thẻ
"Chuyển về" của một máy chủ.
`
