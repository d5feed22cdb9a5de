//! What waits for a person: questions, approvals, plans.

use alloc::vec::Vec;

use crate::event::values::is_absent;
use crate::event::{Decision, QuestionOutcome, Str};

payloads! {
    /// The agent asks the user.
    Question {
        /// Its id.
        question_id: Str<'a>,
        /// What is asked.
        questions: Vec<QuestionItem<'a>>,
        ;
        /// The form that the asking system gave it (`confirm`, `select`, …).
        kind: Option<Str<'a>>,
        /// Milliseconds until it times out, from when it was asked.
        timeout_ms: Option<u64>,
    }

    /// One question of a [`Question`].
    QuestionItem {
        /// Its id within the question.
        id: Str<'a>,
        /// What is asked.
        text: Str<'a>,
        ;
        /// A short heading.
        header: Option<Str<'a>>,
        /// What one can choose.
        options: Vec<Choice<'a>>,
        /// Whether several options may be chosen.
        multiple: bool,
        /// Whether an answer may be text of one's own.
        free_text: bool,
    }

    /// One option of a [`QuestionItem`].
    Choice {
        /// Its id.
        id: Str<'a>,
        /// What it says.
        label: Str<'a>,
        ;
        /// More about it.
        description: Option<Str<'a>>,
    }

    /// A question ended.
    QuestionResolved {
        /// Which.
        question_id: Str<'a>,
        /// How.
        outcome: QuestionOutcome,
        ;
        /// The answers, where somebody answered.
        answers: Vec<Answer<'a>>,
    }

    /// The answer to one [`QuestionItem`].
    Answer {
        /// The item's id.
        id: Str<'a>,
        ;
        /// The chosen options' ids.
        selected: Vec<Str<'a>>,
        /// Text of one's own.
        text: Option<Str<'a>>,
    }

    /// Something needs consent before it is done.
    ApprovalRequired {
        /// Its id.
        approval_id: Str<'a>,
        /// What would happen.
        effects: Vec<Effect<'a>>,
        ;
        /// The call that waits for it.
        call_id: Option<Str<'a>>,
        /// The tool.
        name: Option<Str<'a>>,
        /// Milliseconds until it times out.
        timeout_ms: Option<u64>,
    }

    /// One thing that would happen.
    Effect {
        /// Its kind, as one word (`write`, `exec`, …).
        kind: Str<'a>,
        /// What a person reads.
        text: Str<'a>,
        ;
        /// What it would happen to.
        target: Option<Str<'a>>,
    }

    /// An approval was decided.
    ApprovalResolved {
        /// Which.
        approval_id: Str<'a>,
        /// How.
        decision: Decision,
        /// By whom (`user`, `policy`, `timeout`, …).
        by: Str<'a>,
    }

    /// The agent proposes a plan and waits.
    PlanProposed {
        /// The plan, as the model wrote it.
        plan: Str<'a>,
    }

    /// A plan was decided.
    PlanResolved {
        /// Whether it may go on.
        approved: bool,
        ;
        /// The plan as the user changed it.
        edits: Option<Str<'a>>,
        /// Why not.
        reason: Option<Str<'a>>,
    }
}
