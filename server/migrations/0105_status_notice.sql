-- What the operator tells everybody: announcements, incidents, maintenance.
create table status_notice (
  id uuid primary key,
  kind text not null check (kind in ('announcement', 'incident', 'maintenance')),
  title_en text not null,
  title_vi text not null,
  text_en text not null,
  text_vi text not null,
  starts_at timestamptz not null,
  -- Null: until it is ended.
  ends_at timestamptz check (ends_at > starts_at),
  -- Whether the portal takes no calls of customers meanwhile.
  closes boolean not null default false check (not closes or kind = 'maintenance'),
  created_at timestamptz not null
);
create index status_notice_ends on status_notice (ends_at, starts_at);

create table status_update (
  id bigint generated always as identity primary key,
  notice_id uuid not null references status_notice (id) on delete cascade,
  at timestamptz not null,
  text_en text not null,
  text_vi text not null
);
create index status_update_notice on status_update (notice_id, id);
