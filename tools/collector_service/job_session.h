// The session of one job, shared by the table of jobs and by attachments for the job.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_SESSION_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_SESSION_H_

#include <atomic>
#include <memory>

#include "collector/session/session.h"

namespace utlz {

struct JobSession {
  std::unique_ptr<Session> session;
  // An attachment may take longer than a job lingers without a process. The job does not end while
  // one is under way.
  std::atomic<int> attachments_under_way = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_SESSION_H_
