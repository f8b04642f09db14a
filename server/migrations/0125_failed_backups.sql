-- no-transaction
-- Backups that failed, newest first.
create index concurrently if not exists site_backup_failed on site_backup (seq desc)
  where state = 'failed';
