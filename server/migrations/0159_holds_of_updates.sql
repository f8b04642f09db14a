-- An update rolls back only to a backup after which nobody can have written.

-- Since the backup, writes are held without a gap until then at least; 'epoch': there was a gap;
-- null: nobody has said, as a release before this one.
alter table site_update add column held_until timestamptz;
-- How often the hold was over before anything was exchanged, and the backup was made anew.
alter table site_update add column hold_lapses int not null default 0;
