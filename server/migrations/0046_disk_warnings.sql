-- The warning about a site's disks that its owner has had: 0, 80 or 95 (per cent).
alter table site
  add column disk_watched_at timestamptz,
  add column disk_warned smallint not null default 0,
  add column mariadb_disk_warned smallint not null default 0;
create index site_disk_due on site (disk_watched_at nulls first) where status = 'running';
