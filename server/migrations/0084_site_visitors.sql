-- Who may visit a site: a password before its pages (its hash is platform/scrypt.ts's), and
-- networks that get no answer. The edge is told of a change as it is of a changed host name.
alter table site add column visit_user text;
alter table site add column visit_hash text;
alter table site add column denied_networks text[] not null default '{}';

create trigger site_visitors_changed
  after update of visit_user, visit_hash, denied_networks on site
  for each row when (old.visit_user is distinct from new.visit_user
    or old.visit_hash is distinct from new.visit_hash
    or old.denied_networks is distinct from new.denied_networks)
  execute function note_site();
