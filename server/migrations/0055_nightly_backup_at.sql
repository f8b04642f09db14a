-- When a server's last nightly backup was begun: those that wait longest come first. One of before
-- is due in the next night.
alter table site add column nightly_backup_at timestamptz not null default 'epoch';
