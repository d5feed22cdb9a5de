//! Frames of `chat` that speak of the session: plans, notices, states and the rest.

use super::carriage;
use super::encode::{capabilities, frame, state};
use crate::dialect::Carriage;
use crate::event::{
    Compacted, Event, Notice, Phase, PlanProposed, PlanResolved, Queue, Resync, State,
};
use crate::wire::FrameWriter;

/// What speaks of the session.
pub(super) fn say(event: &Event<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
    match event {
        Event::PlanProposed(e) => plan_proposed(e, frames),
        Event::PlanResolved(e) => plan_resolved(e, frames),
        Event::Compacted(e) => compacted(e, frames),
        Event::Notice(e) => return notice(e, frames),
        Event::Queue(e) => queue(e, frames),
        Event::State(e) => named_state(e, frames),
        Event::Resync(e) => resync(e, frames),
        _ => {}
    }
    carriage(event.kind())
}

fn plan_proposed(plan: &PlanProposed<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "plan");
    frame.str("mode", "plan").bool("executing", false).u64("completed", 0).u64("total", 0);
    frame.str("message", &plan.plan).str("state", "proposed");
}

fn plan_resolved(plan: &PlanResolved<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "plan");
    frame.str("mode", if plan.approved { "agent" } else { "plan" });
    frame.bool("executing", plan.approved).u64("completed", 0).u64("total", 0);
    frame.opt_str("message", plan.edits.as_deref());
    frame.str("state", if plan.approved { "approved" } else { "rejected" });
    frame.opt_str("reason", plan.reason.as_deref());
}

fn compacted(compacted: &Compacted<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "compaction");
    let start = compacted.phase == Some(Phase::Start);
    frame.str("phase", if start { "start" } else { "end" });
    frame.opt_str("reason", compacted.reason.as_deref());
    if !start {
        frame.bool("aborted", compacted.aborted).bool("willRetry", false);
    }
}

/// A notice as the engine's `notify` and `setStatus` show theirs (`chat` 4).
fn notice(notice: &Notice<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
    let detail = notice.detail.as_deref();
    let text = match (&*notice.code, detail) {
        ("warning", Some(detail)) => ["WARNING: ", detail].concat(),
        ("error", Some(detail)) => ["ERROR: ", detail].concat(),
        (code, Some(detail)) => ["[", code, "] ", detail].concat(),
        (code, None) => ["[", code, "]"].concat(),
    };
    state(frames, super::STARTED, Some(&text));
    if notice.code.contains(']') { Carriage::Degraded("state") } else { Carriage::Carried }
}

fn queue(queue: &Queue<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "queue");
    for (name, list) in [("steering", &queue.steering), ("followUp", &queue.follow_up)] {
        let mut array = frame.array(name);
        for text in list {
            array.str(text);
        }
    }
}

/// The state `connected` is the greeting of a watching channel; its message is the session.
fn named_state(named: &State<'_>, frames: &mut FrameWriter<'_>) {
    if named.name != super::CONNECTED {
        return state(frames, &named.name, named.message.as_deref());
    }
    let mut frame = frame(frames, super::CONNECTED);
    frame.opt_str("sessionId", named.message.as_deref());
    capabilities(&mut frame, None);
}

fn resync(resync: &Resync<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "state");
    let mut state = frame.object("state");
    state.str("name", super::SETTLED).str("message", super::RESYNC);
    state.str("reason", &resync.reason);
    state.opt_u64("oldestSeq", resync.oldest_seq).opt_u64("headSeq", resync.head_seq);
}
