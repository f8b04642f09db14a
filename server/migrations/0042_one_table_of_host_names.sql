-- Every name that the edge answers on stands once in one table, whatever its kind, so that two sites
-- can never have the same one. Names of our own are labels below SITES_DOMAIN, which an operator may
-- change; customers' names are whole (A-labels, with at least one dot).
create sequence host_seq;
create table host (
  name text primary key,
  site_id uuid not null references site (id),
  -- own: the site's present name; former: one that it had before; custom: one that the customer brought.
  kind text not null check (kind in ('own', 'former', 'custom')),
  -- The order in which a site let go of its former names: only the latest are kept.
  seq bigint not null default nextval('host_seq'),
  check ((kind = 'custom') = (position('.' in name) > 0))
);
alter sequence host_seq owned by host.seq;
create index host_of_site on host (site_id, kind, seq);
create unique index host_own on host (site_id) where kind = 'own';

insert into host (name, site_id, kind) select name, id, 'own' from site;
-- Where two sites had come to one name, it stays with the one whose present name it is.
insert into host (name, site_id, kind)
  select name, site_id, 'former' from site_former_name order by seq on conflict do nothing;
insert into host (name, site_id, kind)
  select name, site_id, 'custom' from site_domain where released_at is null order by id
  on conflict do nothing;
drop table site_former_name;
-- The host table refuses what this constraint refused.
alter table site drop constraint site_name_key;

create function host_of_site_name() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    update host set kind = 'former', seq = nextval('host_seq')
      where name = old.name and site_id = old.id and kind = 'own';
    delete from host where name = new.name and site_id = new.id and kind = 'former';
  end if;
  insert into host (name, site_id, kind) values (new.name, new.id, 'own');
  return null;
end $$;
create trigger site_name_inserted after insert on site
  for each row execute function host_of_site_name();
create trigger site_name_updated after update of name on site
  for each row when (old.name is distinct from new.name) execute function host_of_site_name();

create function host_of_site_domain() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.released_at is null then
    delete from host where name = old.name and site_id = old.site_id and kind = 'custom';
  end if;
  if tg_op <> 'DELETE' and new.released_at is null then
    insert into host (name, site_id, kind) values (new.name, new.site_id, 'custom');
  end if;
  return null;
end $$;
create trigger site_domain_changed after insert or delete or update of name, site_id, released_at
  on site_domain for each row execute function host_of_site_domain();
