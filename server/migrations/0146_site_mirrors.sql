-- A copy of a server on a second node that follows it (decision 133).
create table site_mirror (
  -- Of this copy; one that begins anew has another.
  id uuid primary key,
  site_id uuid not null,
  -- Where the server was when the copy began, and where the copy lies.
  from_node text not null,
  node_id text not null,
  -- `following`: it takes what changes. `taking_over`: the server is brought up from it. `ending`:
  -- it is removed.
  state text not null check (state in ('following', 'taking_over', 'ending')),
  -- The number of the newest try of a round; each try has another. A node of the release before
  -- looks for what it wrote in the round before: of so high a number there is nothing.
  tries int not null default 1000,
  -- That of the newest that the copy took for certain; null: it is copied whole next.
  laid int,
  -- All that was written until then is in it, and the server can be brought up from it; null: it
  -- cannot.
  content_at timestamptz,
  -- Not before then, by the database's clock; while a process has it in hand, when that is lost.
  next_at timestamptz not null,
  -- Of the process that has it in hand; null: none.
  holder uuid,
  -- Rounds that failed since the last one that did not, and what the newest failed with.
  attempts int not null default 0,
  reason text,
  created_at timestamptz not null
);
create unique index site_mirror_current on site_mirror (site_id) where state <> 'ending';
create index site_mirror_of_node on site_mirror (node_id);
create index site_mirror_of_site on site_mirror (site_id);

-- The server comes up from its mirror, whose id stands in `backup_id`.
alter table site_move add column from_mirror boolean not null default false;
