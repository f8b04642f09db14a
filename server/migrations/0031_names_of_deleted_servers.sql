-- Names that were given to a server after its deletion had begun, and let go of those that it had. They never led anywhere: they are free again as from the
-- moment they were written, or as from that at which the server was gone.
update site_domain d set released_at = greatest(d.created_at, s.deleted_at)
from site s
where s.id = d.site_id and s.status = 'deleting' and d.released_at is null;
