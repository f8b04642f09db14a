-- When a server was last decided on in its night: who missed one comes first in the next.
alter table site_software add column decided_at timestamptz;
-- Deleted servers got a next night again and again.
update site_software w set automatic_at = null
  from site s where s.id = w.site_id and s.deleted_at is not null and w.automatic_at is not null;
