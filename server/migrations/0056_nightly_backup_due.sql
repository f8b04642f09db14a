-- no-transaction
create index concurrently if not exists site_nightly_backup_due on site (nightly_backup_at)
  where status = 'running';
