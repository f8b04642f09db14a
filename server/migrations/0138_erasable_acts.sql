-- The trail of the staff's acts lets go of what is personal (decision 125). From format 2 on the
-- chain holds a salted hash of reason, input, before and after: without the salt nobody can guess
-- what it was made of. Rows of format 1, and those of an older release, stay as they are.
alter table operator_act
  add column format smallint not null default 1,
  add column salt bytea,
  add column personal_hash bytea,
  -- The act by which what was personal went; the act's digest holds what is left.
  add column erased_by bigint;

-- Rows are only added, but for one change: what is personal goes, once.
create or replace function operator_act_is_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.erased_by is null and new.erased_by > old.seq
    and new.salt is null and new.reason is null
    and (new.seq, new.at, new.actor, new.address, new.act, new.subject_kind, new.subject_id,
      new.format, new.previous, new.hash)
      = (old.seq, old.at, old.actor, old.address, old.act, old.subject_kind, old.subject_id,
      old.format, old.previous, old.hash)
    and (new.staff_id, new.approved_by_id, new.approved_by, new.customer_id, new.key,
      new.personal_hash)
      is not distinct from (old.staff_id, old.approved_by_id, old.approved_by, old.customer_id,
      old.key, old.personal_hash)
  then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'OA001';
end $$;
