-- A request that was open when its customer closed the account has ended, and was not met, unless
-- it asked for erasure (decision 125). An older release goes on writing 'done'.
alter table data_request drop constraint data_request_state_check;
alter table data_request add constraint data_request_state
  check (state in ('open', 'done', 'refused', 'ended')) not valid;
