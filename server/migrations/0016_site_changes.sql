-- What a server becomes at its renewal; the id tells the renewal's job whether this is still the change that it was paid for.
alter table site
  add column planned_id uuid,
  add column planned_plan_id int,
  add column planned_containers int,
  add check ((planned_id is null) = (planned_plan_id is null) and (planned_id is null) = (planned_containers is null));

-- Names that a server had before: it goes on answering on them, and nobody else gets them.
create table site_former_name (
  name text primary key,
  site_id uuid not null references site (id)
);
create index site_former_name_of_site on site_former_name (site_id);
