-- When a member's role or limits were last changed: "this was not me" ends who got them since.
alter table team_member add column rights_changed_at timestamptz;
