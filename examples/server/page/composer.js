// The prompt: grows with its text, Enter sends, Shift+Enter breaks the line.

import { say, show } from './dom.js';

export class Composer {
  /** `post(what, body)` sends. */
  constructor(form, post) {
    this.form = form;
    this.post = post;
    this.busy = false;
    this.input = form.querySelector('textarea');
    this.send = form.querySelector('[data-send]');
    this.stop = form.querySelector('[data-stop]');
    this.trouble = form.querySelector('[data-trouble]');
    this.input.addEventListener('input', () => this.look());
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.submit();
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.stop.addEventListener('click', () => this.halt());
    this.look();
  }

  paint(view) {
    this.busy = view.lifecycle === 'busy';
    const held = document.activeElement === this.stop || document.activeElement === this.send;
    show(this.stop, this.busy);
    show(this.send, !this.busy);
    // Whoever pressed one of the two is not left without a place.
    if (held && document.activeElement === document.body) (this.busy ? this.stop : this.input).focus();
    this.look();
  }

  look() {
    const blank = this.input.value.trim() === '';
    if (this.send.disabled !== blank) this.send.disabled = blank;
    if (CSS.supports('field-sizing', 'content')) return;
    this.input.rows = Math.min(10, this.input.value.split('\n').length);
  }

  /** Sends what is written, or `text`. What could not be sent stays in the field. */
  async submit(text = this.input.value) {
    if (text.trim() === '' || this.busy || this.sending) return;
    this.sending = true;
    this.say('');
    try {
      await this.post('prompt', { text, client_id: clientId() });
      if (this.input.value === text) this.input.value = '';
    } catch (error) {
      if (this.input.value === '') this.input.value = text;
      this.say(error.message);
    }
    this.sending = false;
    this.look();
  }

  async halt() {
    try {
      await this.post('stop');
    } catch (error) {
      this.say(error.message);
    }
  }

  say(words) {
    say(this.trouble, words);
    show(this.trouble, words !== '');
  }
}

/** Names a message, so that its row is known again. */
function clientId() {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return `page-${[...words].map((word) => word.toString(16).padStart(8, '0')).join('')}`;
}
