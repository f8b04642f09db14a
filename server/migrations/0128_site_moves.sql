-- A server on its way from one node to another, and what is left of it behind (decision 119).
create table site_move (
  id uuid primary key,
  seq bigint generated always as identity,
  site_id uuid not null,
  from_node text not null,
  to_node text not null,
  -- Who wants it: an act of the operator, or a node that is drained.
  cause text not null check (cause in ('act', 'drain')),
  -- `copying`: visitors go on. `switching`: writes wait. `moved`: it runs on `to_node`, and the
  -- original is kept. `undoing`, `undone`: back to the original. `failed`: it stays where it was.
  state text not null check (state in
    ('copying', 'switching', 'moved', 'undoing', 'undone', 'failed')),
  -- How many archives of changes the copy has taken.
  round int not null default 0,
  attempts int not null default 0,
  -- Why it failed, or why an undo did: a code or what the node said.
  reason text,
  -- Pages that the copy answered otherwise than the original.
  differences jsonb,
  copied_bytes bigint not null default 0,
  -- How long requests that may write waited.
  held_ms int,
  created_at timestamptz not null,
  switched_at timestamptz,
  -- Whether the node is written down, the copy there writes, and the edges were told.
  arrived boolean not null default false,
  -- Until when the original is kept, or what an undo left.
  expires_at timestamptz,
  -- The node on which something of it is still to be removed; null: none.
  leftover_node text,
  leftover_stopped boolean not null default false
);
-- One at a time a server.
create unique index site_move_open on site_move (site_id)
  where state in ('copying', 'switching', 'undoing');
create index site_move_of_site on site_move (site_id, seq desc);
create index site_move_leftover on site_move (leftover_node) where leftover_node is not null;

-- Since when its servers are moved to other nodes; null: they stay.
alter table node add column empties_since timestamptz;
-- What stands behind WordPress there, as the node said last; null: it has not said it yet.
alter table node add column database text;
