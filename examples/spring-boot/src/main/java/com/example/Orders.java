package com.example;

import java.util.List;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Orders {
  private final OrderRepository repository;

  Orders(OrderRepository repository) {
    this.repository = repository;
  }

  /** Stores all orders or none: an order without an amount is refused. */
  @Transactional
  public void place(List<Order> orders) {
    for (Order order : orders) {
      repository.insert(order);
      if (order.amount() <= 0) {
        throw new IllegalArgumentException("no amount: " + order);
      }
    }
  }

  List<Order> of(String customer) {
    return repository.findByCustomer(customer);
  }
}
