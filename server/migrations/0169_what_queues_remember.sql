-- When a server was last decided on in its night: who missed one comes first in the next.
alter table site_software add column decided_at timestamptz;
-- Deleted servers got a next night again and again.
update site_software w set automatic_at = null
  from site s where s.id = w.site_id and s.deleted_at is not null and w.automatic_at is not null;

-- A hundred newer changes of the same domain exist: it goes by its age. Those from before are
-- marked by the next changes of their domain, a hundred by each.
alter table dns_change add column is_surplus boolean not null default false;

-- Whether the upload of an import that is over is gone: the copy may have to wait for its node.
alter table site_import add column upload_removed_at timestamptz;
