-- A claim whose exact pair the parent zone names is answered although another account had the name once or claimed it before: its owner has said so where
-- only the owner can. Nothing stands in for an active domain still. Of two such claims the one that was looked at last counts, as the parent names one pair.
create or replace view dns_served as
select z.id, z.seq, z.name, z.name_servers, z.serial, z.touched_at
from dns_zone z
where z.deleted_at is null
  and (
    z.active_at is not null
    or (
      not z.foreign_delegation
      and not exists (select from dns_zone o where o.name = z.name and o.id <> z.id and o.deleted_at is null and o.active_at is not null)
      and case
        when z.found @> z.name_servers and z.found <@ z.name_servers then not exists (
          select from dns_zone o
          where o.name = z.name and o.id <> z.id and o.deleted_at is null
            and o.found @> o.name_servers and o.found <@ o.name_servers
            and (o.checked_at, o.seq) > (z.checked_at, z.seq)
        )
        else not exists (
          select from dns_zone o
          where o.name = z.name and o.id <> z.id
            and (
              (o.deleted_at is null and ((o.seq < z.seq and not o.foreign_delegation) or (o.found @> o.name_servers and o.found <@ o.name_servers)))
              or (o.first_active_at is not null and o.customer_id <> z.customer_id)
            )
        )
      end
      and not exists (
        select from dns_zone o
        where o.name = any (dns_above(z.name)) and o.deleted_at is null and (o.active_at is not null or o.customer_id <> z.customer_id)
      )
    )
  );
