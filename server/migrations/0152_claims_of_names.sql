-- Of claims that wait, of which the parent zone names none exactly: the only one of its name is
-- answered. Of several none is, for the one that came first may be a stranger's, whose records
-- would be believed from the moment that the owner delegates the name until the owner's own claim
-- is looked at. And another account's claim of a name above hides this one only when it is active,
-- or when the parent names exactly its pair: anybody may claim a name and leave it.
create or replace view dns_served as
select z.id, z.seq, z.name, z.name_servers, z.serial, z.touched_at
from dns_zone z
where z.deleted_at is null
  and (
    z.active_at is not null
    or (
      not z.foreign_delegation
      and not exists (
        select from dns_zone o
        where o.name = z.name and o.id <> z.id and o.deleted_at is null
          and o.active_at is not null
      )
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
              (
                o.deleted_at is null
                and (
                  not o.foreign_delegation
                  or (o.found @> o.name_servers and o.found <@ o.name_servers)
                )
              )
              or (o.first_active_at is not null and o.customer_id <> z.customer_id)
            )
        )
      end
      and not exists (
        select from dns_zone o
        where o.name = any (dns_above(z.name)) and o.deleted_at is null
          and (
            o.active_at is not null
            or (
              o.customer_id <> z.customer_id
              and o.found @> o.name_servers and o.found <@ o.name_servers
            )
          )
      )
    )
  );

-- A socket's name, as the portal gives them: longer ones made a session impossible to end, because
-- PostgreSQL takes no notice of more than 8000 bytes.
delete from channel_grant where length(socket_id) > 21;
alter table channel_grant
  add constraint channel_grant_socket_short check (length(socket_id) <= 21) not valid;
