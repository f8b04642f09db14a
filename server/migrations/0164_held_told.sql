-- What the customer was told of a server that the operator suspends by hand: the page of the server
-- shows it. Servers that are held already get it from the trail.
alter table site add column held_told text;
update site set held_told = (
  select a.after ->> 'told' from operator_act a
  where a.act = 'work.hold_server' and a.subject_kind = 'server' and a.subject_id = site.id::text
  order by a.seq desc limit 1)
where held_at is not null;
