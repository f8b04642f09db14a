-- Every server has the default of 0076, or what this release wrote.
alter table site validate constraint site_update_policy_check;
